// The content of a mail, rendered twice: as plain text and as HTML. Words from people are text in both; the only link
// is one of ours.
import type { Brand } from '../web/brand.ts'
import { html, rendered } from '../web/html.ts'

export type MailContent = {
  subject: string
  /** `Hello <name>,` when it is left out. */
  greeting?: string
  paragraphs: readonly string[]
  /**
   * The one link. `path` is a page of the panel; a mail links to nothing else. After `expiresAt` the mail is not sent
   * any more.
   */
  button?: { words: string; path: `/${string}`; expiresAt?: number }
  /** Small print below the button: how long the link is valid, what to do when the mail was not expected. */
  closing?: string
}

type MailInput = { mailContent: MailContent; name: string; brand: Brand; publicUrl: string }

const greetingOf = ({ mailContent, name }: MailInput) => mailContent.greeting ?? `Hello ${name},`

export const mailAsText = (input: MailInput): string => {
  const { mailContent, brand, publicUrl } = input
  const { paragraphs, button, closing } = mailContent
  return `${[
    greetingOf(input),
    ...paragraphs,
    ...(button ? [`${button.words}:\n${publicUrl}${button.path}`] : []),
    ...(closing ? [closing] : []),
    `-- \n${brand.name}\n${publicUrl}`,
  ].join('\n\n')}\n`
}

/** The accent colour of the style sheet, in a form that mail programs understand. */
const ACCENT = '#2256bb'

/**
 * Tables with a style on each element, because mail programs drop style sheets; no images, because they do not load
 * them.
 */
export const mailAsHtml = (input: MailInput): string => {
  const { mailContent, brand, publicUrl } = input
  const { subject, paragraphs, button, closing } = mailContent
  const accent = brand.accent ?? ACCENT
  const p = 'margin:0 0 16px;font:16px/1.5 system-ui,-apple-system,Segoe UI,Arial,sans-serif;color:#1c212b'
  const small = 'margin:0 0 16px;font:14px/1.5 system-ui,-apple-system,Segoe UI,Arial,sans-serif;color:#535b6b'
  const outer = 'background:#ffffff;border:1px solid #dfe3ea;border-radius:8px'
  const link =
    'display:inline-block;padding:10px 18px;border-radius:6px;color:#ffffff;font-weight:600;text-decoration:none'
  const url = button && publicUrl + button.path
  const action =
    button &&
    html`<p style="${p}"><a href="${url}" style="${link};background:${accent}">${button.words}</a></p>
<p style="${small}">Or open this address:
<a href="${url}" style="color:${accent};word-break:break-all">${url}</a></p>
`
  const body = html`<p style="${p};font-weight:700">${brand.name}</p>
<p style="${p}">${greetingOf(input)}</p>
${paragraphs.map((words) => html`<p style="${p};white-space:pre-line">${words}</p>\n`)}${action}${
  closing && html`<p style="${small};white-space:pre-line">${closing}</p>\n`
}`
  const table = html`role="presentation" width="100%" cellpadding="0" cellspacing="0"`
  const head = html`<meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">
<title>${subject}</title>`
  return `<!doctype html>${rendered(html`<html lang="en"><head>${head}</head>
<body style="margin:0;background:#f5f6f9"><table ${table}><tr><td align="center" style="padding:24px 12px">
<table ${table} style="max-width:560px;border-top:4px solid ${accent};${outer}"><tr><td style="padding:24px">
${body}</td></tr></table>
<p style="${small};padding-top:12px"><a href="${publicUrl}" style="color:#535b6b">${brand.name}</a></p>
</td></tr></table></body></html>
`)}`
}
