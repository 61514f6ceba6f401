// A brand: name, logo, colour, and the sender of mails. This file knows how one looks; features decide who sees which.

export type Brand = {
  name: string
  /** `#rrggbb`; null for the colour of the style sheet. */
  accent: string | null
  /** The logo's digest, which is in its address. */
  logo: string | null
  /** Null: the address of the mail server's settings. */
  sender: { name: string; address: string | null }
}

// ---------------------------------------------------------------- colour
type Rgb = readonly [number, number, number]
const rgb = (hex: string) => [1, 3, 5].map((i) => Number.parseInt(hex.slice(i, i + 2), 16)) as unknown as Rgb
const hexOf = (color: Rgb) => `#${color.map((c) => Math.round(c).toString(16).padStart(2, '0')).join('')}`
const mix = (a: Rgb, b: Rgb, ofB: number) => a.map((c, i) => c + (b[i]! - c) * ofB) as unknown as Rgb

/** WCAG 2.2: relative luminance, and the ratio of two colours, 1 to 21. */
const luminance = (color: Rgb) => {
  const [r, g, b] = color.map((c) =>
    c / 255 <= 0.04045 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4,
  ) as unknown as Rgb
  return 0.2126 * r + 0.7152 * g + 0.0722 * b
}
function ratio(a: Rgb, b: Rgb) {
  const [dark, light] = [luminance(a), luminance(b)].sort((x, y) => x - y) as [number, number]
  return (light + 0.05) / (dark + 0.05)
}
const WHITE: Rgb = [255, 255, 255]
/** The dark theme's surface, about. */
const NIGHT: Rgb = [24, 27, 34]
/** WCAG AA for text. */
export const LEAST_CONTRAST = 4.5

/** How well white words are read on it. */
export const contrastWithWhite = (hex: string) => ratio(rgb(hex), WHITE)

/** `color` mixed with `towards` in steps of 4 % until it is read on `ground`. */
function readable(color: Rgb, towards: Rgb, ground: Rgb): Rgb {
  for (let share = 0; share < 1; share += 0.04) {
    const mixed = mix(color, towards, share)
    if (ratio(mixed, ground) >= LEAST_CONTRAST + 0.1) return mixed
  }
  return towards
}

/** The tokens of panel.css that follow from an accent, for both themes. */
export function brandCss(accent: string): string {
  const color = rgb(accent)
  const [soft, softAtNight] = [mix(WHITE, color, 0.08), mix(NIGHT, color, 0.22)]
  const atNight = hexOf(readable(color, WHITE, softAtNight))
  return `@layer brand{:root{--accent:light-dark(${accent},${atNight});--accent-ink:light-dark(${hexOf(readable(color, [0, 0, 0], soft))},${atNight});--accent-soft:light-dark(${hexOf(soft)},${hexOf(softAtNight)})}}\n`
}

// ---------------------------------------------------------------- addresses
/** An address names its content, so browsers keep the answer for good; a new logo or colour has a new address. */
export const logoUrl = (hash: string) => `/brand/logo?v=${hash}`
export const brandCssUrl = (accent: string) => `/brand/brand.css?v=${accent.slice(1)}`
