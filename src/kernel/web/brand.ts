// As whom Berth shows itself: name, logo, colour, and who its mails are from. The installation has a brand; a reseller may have one
// for its own customers, and what it leaves out is the installation's.
import { type Db, prepared } from '../db/open.ts'

export type Brand = {
  name: string
  /** `#rrggbb`; null for the colour of the style sheet. */
  accent: string | null
  /** The logo's digest, which is in its address. */
  logo: string | null
  /** Null: the address of the mail server's settings. */
  sender: { name: string; address: string | null }
}

type Row = {
  name: string | null
  accent: string | null
  logo: string | null
  senderName: string | null
  senderAddress: string | null
}
const columns = 'name, accent, logo_hash AS logo, sender_name AS senderName, sender_address AS senderAddress'
const statements = prepared(({ $client }) => ({
  seenBy: $client.prepare<Row, [string]>(
    `SELECT ${columns} FROM branding WHERE account_id IS NULL
     OR account_id = (SELECT reseller_id FROM accounts WHERE id = ? AND kind = 'customer') ORDER BY account_id IS NULL`,
  ),
  logo: $client.prepare<{ logo: Uint8Array; logoType: string }, [string]>(
    'SELECT logo, logo_type AS logoType FROM branding WHERE logo_hash = ? LIMIT 1',
  ),
  accent: $client.prepare<{ accent: string }, [string]>('SELECT accent FROM branding WHERE accent = ? LIMIT 1'),
}))

/** What this account sees, and who its mails are from: the brand of its reseller, else the installation's. `''` for a visitor. */
export function brandFor(db: Db, accountId: string): Brand {
  const rows = statements(db).seenBy.all(accountId)
  const first = <K extends keyof Row>(name: K) => rows.find((row) => row[name] !== null)?.[name] ?? null
  const name = first('name') ?? 'Berth'
  // A reseller's name goes before the installation's sender: its customers would not know who that is.
  const sender = rows.find((row) => row.senderName !== null || row.name !== null)
  return {
    name,
    accent: first('accent'),
    logo: first('logo'),
    sender: { name: sender?.senderName ?? sender?.name ?? name, address: first('senderAddress') },
  }
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

// ---------------------------------------------------------------- over HTTP
/** Addresses name what is there, so they are kept for good; a new logo or colour has a new address. */
export const logoUrl = (hash: string) => `/brand/logo?v=${hash}`
export const brandCssUrl = (accent: string) => `/brand/brand.css?v=${accent.slice(1)}`

const fixed = { 'Cache-Control': 'public, max-age=31536000, immutable' }
const none = () => new Response('Not found\n', { status: 404, headers: { 'Content-Type': 'text/plain' } })

/** Only what somebody has set as a logo or colour is answered; the address alone makes nothing. */
export function answerBrand(db: Db, request: Request): Response {
  const { pathname, searchParams } = new URL(request.url)
  const given = searchParams.get('v')
  const now = brandFor(db, '')
  const etag = { ...fixed, ...(given === null ? { 'Cache-Control': 'no-cache' } : {}) }
  if (pathname === '/brand/logo') {
    const found = statements(db).logo.get(given ?? now.logo ?? '')
    return found
      ? new Response(found.logo as BodyInit, { headers: { ...etag, 'Content-Type': found.logoType } })
      : none()
  }
  const accent = given === null ? now.accent : statements(db).accent.get(`#${given}`)?.accent
  if (pathname !== '/brand/brand.css' || !accent) return none()
  return new Response(brandCss(accent), { headers: { ...etag, 'Content-Type': 'text/css; charset=utf-8' } })
}
