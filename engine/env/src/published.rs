//! See the plan.
