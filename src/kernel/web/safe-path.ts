// Where somebody is led after something else: an address that came in a query, and must not lead off this site.

/**
 * A path of this site, written out: visible ASCII, no second slash at its start, no backslash anywhere. Browsers drop tabs and line breaks
 * from addresses and take a backslash for a slash, so a path that looks like ours may be another site's. Braces are left out because
 * `{home}` is filled in later.
 */
export const SAFE_PATH = '^/([!-.0-\\[\\]-z|~][!-\\[\\]-z|~]*)?$'

const safe = new RegExp(SAFE_PATH)
export const safePath = (path: string | undefined): string | undefined =>
  path !== undefined && safe.test(path) ? path : undefined
