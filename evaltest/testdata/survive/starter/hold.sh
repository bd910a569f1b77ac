# hold.sh DIR is a command in the foreground: it says so in DIR, and ends when DIR says so.
echo >"$1/holding"
until [ -e "$1/release" ]; do sleep 0.05; done
echo >done
