// The reservations of addresses whose servers are still at another panel.

/** Begins the reason for which such an address is reserved; the id of its server stands behind it. */
export const MARK = 'Import '

/** Is the address reserved for a server of another panel, in whichever import? */
export const isHeldForImport = (reservedFor: string | null): boolean => reservedFor?.startsWith(`${MARK}ims_`) ?? false
