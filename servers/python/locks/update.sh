#!/bin/sh
# Regenerates the lock files beside this script: needs uv. Each is compiled against those before it, so that
# builds differ in as little as their own requirements allow. Set UV_EXCLUDE_NEWER=DATE to resolve as of a day.
set -eu
cd "$(dirname "$0")"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
: > "$work/common.txt"

for version in 2.2.0 2.1.1 1.30.0 1.29.1; do
  # --no-header and --no-annotate: neither a path nor the order of compilation stands in the result.
  printf 'mcp==%s\nuvicorn\n' "$version" |
    uv pip compile - --quiet --universal --python-version 3.10 --generate-hashes \
      --no-header --no-annotate --constraint "$work/common.txt" --output-file "$work/mcp-$version.txt"
  # What this build needs binds the next ones, apart from the package under test itself.
  grep -v -E '^( |mcp==|mcp-types==)' "$work/mcp-$version.txt" | sed 's/ *\\$//' >> "$work/common.txt"
done

mv "$work"/mcp-*.txt .

# The uv that is fetched where none is on PATH.
uv pip compile - --quiet --universal --python-version 3.10 --generate-hashes \
  --no-header --no-annotate --output-file uv.txt <<REQUIREMENTS
uv==0.13.9
REQUIREMENTS
