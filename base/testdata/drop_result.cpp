// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
// Must not compile with -Werror: the Result is dropped.
#include <promtact/base/result.hpp>

promtact::Result<void> save();
promtact::Result<int> count();

void run() {
#if defined(DROP_VOID)
    save();
#elif defined(DROP_VALUE)
    count();
#elif defined(KEEP)
    if (!save()) return;
    static_cast<void>(count());
#endif
}
