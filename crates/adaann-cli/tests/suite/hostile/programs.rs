//! Programs that should compute a likelihood but misbehave.

/// The programs as shell scripts; each has one parameter, and every worker starts its own.
pub(crate) const PROGRAMS: &[(&str, &str)] = &[
    ("ends at once", "exit 0"),
    ("prints junk", "echo junk; cat >/dev/null"),
    (
        "answers nan",
        "read a; echo '{\"gradient\": false}'; while read a; do case $a in batch*) ;; *) echo nan;; esac; done",
    ),
    ("never answers", "while :; do sleep 1; done"),
    (
        "writes to stderr without end",
        "read a; echo '{\"gradient\": false}'; while :; do echo noise >&2; done",
    ),
    ("ends by a signal", "read a; kill -9 $$"),
    ("fails at once", "exit 7"),
    (
        "answers inf",
        "read a; echo '{\"gradient\": false}'; while read a; do case $a in batch*) ;; *) echo inf;; esac; done",
    ),
    (
        "answers -inf",
        "read a; echo '{\"gradient\": false}'; while read a; do case $a in batch*) ;; *) echo -inf;; esac; done",
    ),
    (
        "answers 1e308 and -1e308",
        "read a; echo '{\"gradient\": false}'; s=; while read a; do case $a in batch*) ;; *) echo ${s}1e308; [ \"$s\" ] && s= || s=-;; esac; done",
    ),
    (
        "answers too much",
        "read a; echo '{\"gradient\": false}'; while read a; do echo 1; echo 2; echo 3; done",
    ),
    (
        "answers too little",
        "read a; echo '{\"gradient\": false}'; while read a; do case $a in batch*) echo 1;; esac; done",
    ),
    ("answers words", "read a; echo '{\"gradient\": false}'; while read a; do echo word; done"),
    ("answers empty lines", "read a; echo '{\"gradient\": false}'; while read a; do echo; done"),
    (
        "answers in one huge line",
        "read a; echo '{\"gradient\": false}'; read a; head -c 3000000 /dev/zero | tr '\\0' 9; sleep 100",
    ),
    (
        "answers in one line without end",
        "read a; echo '{\"gradient\": false}'; while :; do printf 999999999999999999; done",
    ),
    ("greets without end", "while :; do printf 999999999999999999; done"),
    ("greets in lines without end", "while :; do echo '{}'; done"),
    ("closes its output", "exec >&-; while read a; do :; done"),
    ("closes its input", "exec <&-; echo '{\"gradient\": false}'; sleep 100"),
    ("closes both and stays", "exec <&- >&-; sleep 100"),
    ("leaves a child and ends", "sleep 100 & exit 0"),
    (
        "leaves a child after its greeting",
        "read a; echo '{\"gradient\": false}'; sleep 100 & exit 1",
    ),
    ("greets wrongly", "read a; echo '{\"gradient\": \"perhaps\"}'; cat"),
    ("greets with a list", "read a; echo '[1, 2'; cat"),
    ("asks for batches of none", "read a; echo '{\"gradient\": false, \"batch\": 0}'; cat"),
    (
        "asks for batches of too many",
        "read a; echo '{\"gradient\": false, \"batch\": 18446744073709551616}'; cat",
    ),
    ("echoes", "read a; echo '{\"gradient\": false}'; cat"),
    (
        "promises gradients and has none",
        "read a; echo '{\"gradient\": true}'; while read a; do case $a in batch*) ;; *) echo 1;; esac; done",
    ),
    (
        "answers in bytes that are no text",
        "read a; printf '\\377\\376\\200\\n'; while read a; do printf '\\377\\n'; done",
    ),
    (
        "answers slowly",
        "read a; echo '{\"gradient\": false}'; while read a; do case $a in batch*) ;; *) sleep 0.5; echo -1;; esac; done",
    ),
    ("ignores signals", "trap '' TERM INT HUP PIPE; read a; while :; do sleep 1; done"),
    ("stops itself", "read a; echo '{\"gradient\": false}'; kill -STOP $$"),
    (
        "ends in the middle of an answer",
        "read a; echo '{\"gradient\": false}'; read a; printf '%s' -1.2",
    ),
];

/// The model with a program.
pub(crate) fn model() -> &'static str {
    "[parameters]\na = \"normal(0, 1)\"\n\n[command]\nrun = [\"sh\", \"program.sh\"]\ntimeout = 1\n"
}
