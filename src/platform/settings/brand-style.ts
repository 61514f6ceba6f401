// Colours and addresses of a brand: the accent in both themes, readable on its grounds, and the URLs of logo and style
// sheet.

/** WCAG 2.2: relative luminance of `#rrggbb`. */
function luminance(hex: string): number {
  const [r, g, b] = [1, 3, 5].map((i) => {
    const c = Number.parseInt(hex.slice(i, i + 2), 16) / 255
    return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4
  }) as [number, number, number]
  return 0.2126 * r + 0.7152 * g + 0.0722 * b
}
/** WCAG AA for text. */
export const LEAST_CONTRAST = 4.5

/** The contrast of white text on the colour, 1 to 21. */
export const contrastWithWhite = (hex: string) => 1.05 / (luminance(hex) + 0.05)

/** The one value that panel.css derives every accent from, with a lightness of its own for each theme. */
export const brandCss = (accent: string): string => `@layer brand{:root{--brand:${accent}}}\n`

// ---------------------------------------------------------------- addresses
/** An address names its content, so browsers keep the answer for good; a new logo or colour has a new address. */
export const logoUrl = (hash: string) => `/brand/logo?v=${hash}`
export const brandCssUrl = (accent: string) => `/brand/brand.css?v=${accent.slice(1)}`
