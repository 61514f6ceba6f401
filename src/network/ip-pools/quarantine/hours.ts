/** So long a freed address of a pool rests for which staff say nothing. */
export const DEFAULT_QUARANTINE_HOURS = 24
