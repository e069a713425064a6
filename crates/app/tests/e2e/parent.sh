#!/bin/sh
# A workflow that has a feature designed and goes on with the plan. It knows nothing of convoke but
# what it prints, the files it leaves and how it exits.
#
#   parent.sh CONVOKE FOLDER FEATURE-FOLDER SEATS FEATURE

set -eu
convoke=$1 folder=$2 feature_folder=$3 seats=$4 feature=$5
env=$folder/session-env.sh

value() {
    printf '%s\n' "$2" | sed -n "s/^$1=//p"
}

# 0: whether there is a branch to go on from, and what is known already.
facts=$("$convoke" plumbing branch-check --check)
"$convoke" plumbing entry-gate --mode implement \
    --current-branch "$(value CURRENT_BRANCH "$facts")" --is-main "$(value IS_MAIN "$facts")" \
    --is-user-branch "$(value IS_USER_BRANCH "$facts")" --user-prefix "$(value USER_PREFIX "$facts")"
"$convoke" plumbing write-session-env --output "$env" --repo-unavailable true --codex-healthy true

# 1: a design that is there already is used again.
read=$("$convoke" plumbing manifest-read --implement-tmpdir "$folder")
if [ "$(value MANIFEST_OK "$read")" != true ]; then
    echo "designing: $(value ERROR "$read")"
    "$convoke" design --auto --session-env "$env" --step-prefix '1.::design plan' \
        --branch-info "$(printf '%s' "$facts" | tr '\n' ' ')" --seats "$seats" "$feature" \
        >"$folder/design.log" || echo "design: exit $?"
    read=$("$convoke" plumbing manifest-read --implement-tmpdir "$folder" --emit-load-breadcrumb)
fi
if [ "$(value MANIFEST_OK "$read")" != true ]; then
    error=$(value ERROR "$read")
    echo "**⚠ 1: design plan — design manifest unavailable: $error. Bailing to cleanup.**"
    exit 1
fi
printf '%s\n' "$read" | tail -n 1
"$convoke" plumbing read-session-key --file "$env.health" --key CURSOR_HEALTHY --default unknown

# 2: the plan's tasks, the prompt of the first one, and waking the agent that works on it.
cp "$(value PLAN_FILE "$read")" "$feature_folder/plan.md"
sed -n '/^## Tasks/,$p' "$feature_folder/plan.md" >"$feature_folder/tasks.md"
first=$("$convoke" task import "$feature_folder/plan.md" | head -n 1)
"$convoke" dispatch task 1 --feature "$feature_folder" >"$folder/task-1.md"
# A plan that was taken over before has no new tasks.
[ -z "$first" ] || "$convoke" task start "$first" --as june >"$folder/started.log"
"$convoke" wake june >"$folder/wake.md"
