#!/usr/bin/env bash
# Runs one review in CI. Exits 0 only if the review took place and passed; `action.yml` explains the
# variables.
set -euo pipefail

reports=${REVIEW_REPORTS:?}
report=$reports/report.json
sarif=$reports/review.sarif
mkdir -p "$reports"
rm -f "$report" "$sarif"

common=(--json --sarif "$sarif")
[ -z "${REVIEW_BUDGET:-}" ] || common+=(--budget "$REVIEW_BUDGET")
# Split at spaces, and nothing else: no word of a pull request is run by a shell.
more=()
[ -z "${REVIEW_ARGUMENTS:-}" ] || read -ra more <<< "$REVIEW_ARGUMENTS"

case ${REVIEW_KIND:?} in
    dispatch-loop)
        words=(dispatch loop "${REVIEW_ROLES:?}" --client "${REVIEW_CLIENT:?}" "${common[@]}")
        [ -z "${REVIEW_FEATURE:-}" ] || words+=(--feature "$REVIEW_FEATURE")
        words+=("${more[@]}")
        approved='^  "stop": "approved",$'
        reviewed='^  "stop": "(by_hand|capped|no_progress)",$'
        ;;
    design)
        words=(design --auto "${common[@]}" "${more[@]}")
        [ -z "${REVIEW_FEATURE:-}" ] || words+=(-- "$REVIEW_FEATURE")
        approved='^  "ending": "complete",$'
        reviewed='^$a' # A design has no other way to take place.
        ;;
    *)
        echo "error: \`review\` must be \`dispatch-loop\` or \`design\`, not \`$REVIEW_KIND\`" >&2
        exit 2
        ;;
esac

# An agent's words go to the log, where a line such as `::set-env` would be obeyed.
token=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
echo "::stop-commands::$token" >&2
code=0
"${REVIEW_CONVOKE:-convoke}" "${words[@]}" > "$report" || code=$?
echo "::$token::" >&2

# An exit code alone proves nothing: both reports must say that the review took place.
took_place() {
    grep -Eq "$1" "$report" && grep -Eq '^ *"executionSuccessful": true' "$sarif"
} 2> /dev/null

outcome=no-review
if [ "$code" = 0 ] && took_place "$approved"; then
    outcome=passed
elif [ "$code" = 1 ] && took_place "$reviewed"; then
    outcome=failed
elif [ "$code" = 0 ]; then
    code=4
fi
[ -s "$report" ] || printf '{\n  "outcome": "%s",\n  "exit_code": %d\n}\n' "$outcome" "$code" > "$report"

case $outcome in
    passed) said="the review took place and passed" ;;
    failed) said="the review took place and found something" ;;
    *) said="the review did not take place (Convoke exited $code)" ;;
esac
echo "$said" >&2

{
    echo "outcome=$outcome"
    echo "report=$report"
    [ "$outcome" = no-review ] || echo "sarif=$sarif"
} >> "${GITHUB_OUTPUT:-/dev/null}"
echo "Convoke: $said." >> "${GITHUB_STEP_SUMMARY:-/dev/null}"

if [ "$outcome" = failed ] && [ "${REVIEW_ACCEPT_FINDINGS:-false}" = true ]; then
    exit 0
fi
exit "$code"
