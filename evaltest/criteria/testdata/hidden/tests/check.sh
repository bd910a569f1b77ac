test "$(cat out.txt)" = 42
