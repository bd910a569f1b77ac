# leave.sh KIND N leaves a process with N among its arguments, in the way that KIND names.
N=$2
case $1 in
background) sleep $N & ;;
setsid) setsid sleep $N & ;;
double-fork) ( ( sleep $N & ) & ) ;;
double-fork-in-new-sessions) setsid sh -c "setsid sleep $N & exit 0" & ;;
env-i) env -i setsid sleep $N & ;;
env-i-orphaned) ( env -i setsid sleep $N & ) ;;
ignored-signals) ( trap '' TERM HUP INT QUIT PIPE USR1; exec sleep $N ) & ;;
respawned-when-killed) ( while :; do sleep $N; done ) & ;;
nohup) nohup sleep $N >nohup.out 2>&1 & ;;
*) exit 1 ;;
esac
