# SPDX-License-Identifier: Apache-2.0
# Copyright the Promtact authors
"""The rules of verification/tidy.py, one module per family."""
