// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Owner of the precompiled gtest header that every test binary reuses.
int main() {
    return 0;
}
