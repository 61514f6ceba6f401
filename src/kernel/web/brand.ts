// A brand: name, logo, colour, support link, and the sender of mails. Features decide which account sees which brand.

export type Brand = {
  name: string
  /** `#rrggbb`; null for the colour of the style sheet. */
  accent: string | null
  /** The logo's digest, which is in its address. */
  logo: string | null
  /** Where readers ask for help, with `https:`, `http:` or `mailto:`; null: nowhere. */
  support: string | null
  /** Null: the address of the mail server's settings. */
  sender: { name: string; address: string | null }
}
