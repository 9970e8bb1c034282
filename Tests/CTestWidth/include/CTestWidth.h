// SPDX-License-Identifier: Apache-2.0
//
// Declares nothing: what is linked with this runs fewer tests at a time; see width.c.
