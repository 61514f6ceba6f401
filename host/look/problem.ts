/** Something in the way of an installation, and what to do about it: two sentences. */
export type Problem = { problem: string; remedy: string }
