# slurm_helpers.sh -- read by tests with `. "$ROOT/tests/slurm_helpers.sh"`: a real Slurm of one node, this machine, on
# the loopback device, without systemd and cgroups, as any user.
#
#   slurm_start    all of it is in the folder slurm/; sets SLURM_CONF for sbatch, squeue and the others, and a trap that
#                  ends the daemons with the test. Prints SKIP and ends the test where Slurm is not installed
#   slurm_wait ID  until a job, or all tasks of an array, have ended
#   slurm_stop     earlier than at the end of the test

# A munge key, the configuration, and a free pair of ports, of which both daemons must agree. A job that is queued again
# waits for cred_expire and a second: 5 is the least that Slurm takes; from less it makes 120.
slurm_configure() { # controller's port
    me=$(id -un)
    mkdir -p slurm/state slurm/spool slurm/munge
    chmod 700 slurm slurm/munge
    [ -s slurm/munge/key ] || head -c 1024 /dev/urandom >slurm/munge/key
    chmod 600 slurm/munge/key
    cat >slurm/slurm.conf <<END
ClusterName=taper
SlurmctldHost=localhost(127.0.0.1)
SlurmctldPort=$1
SlurmdPort=$(($1 + 1))
SlurmUser=$me
SlurmdUser=$me
AuthType=auth/munge
AuthInfo=socket=$PWD/slurm/munge/socket,cred_expire=5
StateSaveLocation=$PWD/slurm/state
SlurmdSpoolDir=$PWD/slurm/spool
SlurmctldPidFile=$PWD/slurm/slurmctld.pid
SlurmdPidFile=$PWD/slurm/slurmd.pid
SwitchType=switch/none
MpiDefault=none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerParameters=sched_interval=1,bf_interval=1
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/none
ReturnToService=2
KillWait=10
MinJobAge=3600
MailProg=/bin/true
NodeName=localhost NodeAddr=127.0.0.1 NodeHostname=$(hostname -s) CPUs=4 State=UNKNOWN
PartitionName=main Nodes=localhost Default=YES MaxTime=INFINITE State=UP
SlurmdParameters=config_overrides
END
}

slurm_stop() {
    if [ -e slurm/slurmctld.started ]; then # jobs do not end with the daemons
        timeout 10 scancel --user="$(id -un)" 2>/dev/null || true
        for _ in $(seq 50); do
            [ -n "$(timeout 10 squeue -h 2>/dev/null)" ] || break
            sleep 0.2
        done
    fi
    for daemon in slurmd slurmctld munged; do
        pid=$(cat slurm/$daemon.started 2>/dev/null) || continue
        kill "$pid" 2>/dev/null || true
    done
    for daemon in slurmd slurmctld munged; do # the last one lets the trap know that all have ended
        pid=$(cat slurm/$daemon.started 2>/dev/null) || continue
        for _ in $(seq 100); do
            kill -0 "$pid" 2>/dev/null || break
            sleep 0.1
        done
        kill -9 "$pid" 2>/dev/null || true
        wait "$pid" 2>/dev/null || true
        rm -f slurm/$daemon.started
    done
}

slurm_daemon() { # name, arguments...
    daemon=$1
    shift
    # in a group of its own: what ends a test that takes too long, must not end the daemons before their jobs
    setsid "$daemon" "$@" >>slurm/$daemon.log 2>&1 &
    echo $! >slurm/$daemon.started
}

slurm_show_logs() {
    for log in slurm/*.log; do echo "--- $log"; tail -n 30 "$log"; done >&2
}

slurm_start() {
    PATH=$PATH:/usr/sbin:/sbin
    needs munged:munge slurmctld:slurmctld slurmd:slurmd sbatch:slurm-client
    SLURM_CONF=$PWD/slurm/slurm.conf
    export PATH SLURM_CONF
    trap 'slurm_stop' EXIT
    trap 'exit 143' TERM
    trap 'exit 130' INT
    for port in $(shuf -i 20000-50000 -n 5); do
        slurm_configure "$port"
        slurm_daemon munged --force --foreground --num-threads=2 --socket="$PWD/slurm/munge/socket" \
            --key-file="$PWD/slurm/munge/key" --log-file="$PWD/slurm/munge/log" --pid-file="$PWD/slurm/munge/pid" \
            --seed-file="$PWD/slurm/munge/seed"
        for _ in $(seq 50); do
            [ ! -S slurm/munge/socket ] || break
            sleep 0.1
        done
        slurm_daemon slurmctld -D -f "$SLURM_CONF"
        slurm_daemon slurmd -D -N localhost -f "$SLURM_CONF"
        for _ in $(seq 150); do
            case $(sinfo -h -o %t 2>/dev/null) in idle*) return 0 ;; esac
            kill -0 "$(cat slurm/slurmctld.started)" 2>/dev/null || break # such as for a port that is taken
            sleep 0.2
        done
        slurm_stop
    done
    slurm_show_logs
    echo "Slurm does not start" >&2
    exit 1
}

# The states of a job, or of the tasks of an array, such as "COMPLETED FAILED ".
slurm_states() { # job
    scontrol -o show job "$1" 2>/dev/null | sed 's/.*JobState=\([A-Z_]*\).*/\1/' | sort -u | tr '\n' ' '
}

slurm_wait() { # job
    for _ in $(seq 1200); do
        case " $(slurm_states "$1")" in
        *' PENDING'* | *' RUNNING'* | *' COMPLETING'* | *' CONFIGURING'* | *' REQUEUED'* | ' ') sleep 0.2 ;;
        *) return 0 ;;
        esac
    done
    squeue >&2
    slurm_show_logs
    echo "job $1 has not ended: $(slurm_states "$1")" >&2
    exit 1
}
