#!/bin/sh
# Installs a browser for tests/browser.rs. Needs root on Debian or Ubuntu.
set -eu
export DEBIAN_FRONTEND=noninteractive
apt-get update -q
apt-get install -q -y --no-install-recommends chromium || apt-get install -q -y chromium-browser
