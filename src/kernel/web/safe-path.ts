// The page to open next, when its address came in a query: it must not lead off this site.

/**
 * A path of this site: visible ASCII, no second slash at its start, no backslash. Browsers drop tabs and line breaks
 * from addresses and take a backslash for a slash, so other forms may lead to another site. `{home}` is filled in
 * later.
 */
export const SAFE_PATH = '^/([!-.0-\\[\\]-z|~][!-\\[\\]-z|~]*)?$'

const safe = new RegExp(SAFE_PATH)
export const safePath = (path: string | undefined): string | undefined =>
  path !== undefined && safe.test(path) ? path : undefined
