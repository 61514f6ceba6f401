/** The first match counts. Browsers name each other, so the specific ones come first. */
const browsers: readonly (readonly [RegExp, string])[] = [
  [/\bEdg(e|A|iOS)?\//, 'Edge'],
  [/\bOPR\//, 'Opera'],
  [/\b(Firefox|FxiOS)\//, 'Firefox'],
  [/\b(HeadlessChrome|Chrome|CriOS|Chromium)\//, 'Chrome'],
  [/\bSafari\//, 'Safari'],
  [/\bcurl\//, 'curl'],
]
const systems: readonly (readonly [RegExp, string])[] = [
  [/\biPhone\b/, 'iPhone'],
  [/\biPad\b/, 'iPad'],
  [/\bAndroid\b/, 'Android'],
  [/\bWindows\b/, 'Windows'],
  [/\bMac OS X\b/, 'macOS'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\bLinux\b/, 'Linux'],
]

/** A User-Agent in words: `Firefox on Windows`. */
export function deviceIn(userAgent: string): string {
  const first = (known: typeof browsers) => known.find(([pattern]) => pattern.test(userAgent))?.[1]
  const [browser, system] = [first(browsers), first(systems)]
  return browser && system ? `${browser} on ${system}` : (browser ?? system ?? 'Unknown device')
}
