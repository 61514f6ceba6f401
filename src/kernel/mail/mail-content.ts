// What a mail says, described once and drawn twice: as text, and as HTML for programs that show it. Words from people are text in
// both; the only link is one of ours.
import type { Brand } from '../web/brand.ts'
import { html } from '../web/html.ts'

export type MailContent = {
  subject: string
  /** `Hello <name>,` when it is left out. */
  greeting?: string
  paragraphs: readonly string[]
  /** The one thing to do. `path` is a place in the panel: a mail leads nowhere else. A mail is not sent any more when its link is over. */
  button?: { words: string; path: `/${string}`; expiresAt?: number }
  /** Below the button, in small: how long a link holds, what to do when the mail was not expected. */
  closing?: string
}

type Written = { mailContent: MailContent; name: string; brand: Brand; publicUrl: string }

const greetingOf = ({ mailContent, name }: Written) => mailContent.greeting ?? `Hello ${name},`

export const mailAsText = (written: Written): string => {
  const { mailContent, brand, publicUrl } = written
  const { paragraphs, button, closing } = mailContent
  return `${[
    greetingOf(written),
    ...paragraphs,
    ...(button ? [`${button.words}:\n${publicUrl}${button.path}`] : []),
    ...(closing ? [closing] : []),
    `-- \n${brand.name}\n${publicUrl}`,
  ].join('\n\n')}\n`
}

/** The accent of panel.css, as mail programs understand it. */
const ACCENT = '#2256bb'

/** Tables and styles on each element: mail programs drop style sheets, and know little else. No pictures: they are not fetched anyway. */
export const mailAsHtml = (written: Written): string => {
  const { mailContent, brand, publicUrl } = written
  const { subject, paragraphs, button, closing } = mailContent
  const accent = brand.accent ?? ACCENT
  const p = 'margin:0 0 16px;font:16px/1.5 system-ui,-apple-system,Segoe UI,Arial,sans-serif;color:#1c212b'
  const small = 'margin:0 0 16px;font:14px/1.5 system-ui,-apple-system,Segoe UI,Arial,sans-serif;color:#535b6b'
  return `<!doctype html>${
    html`<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1"><title>${subject}</title></head>
<body style="margin:0;background:#f5f6f9"><table role="presentation" width="100%" cellpadding="0" cellspacing="0"><tr><td align="center" style="padding:24px 12px">
<table role="presentation" width="100%" cellpadding="0" cellspacing="0" style="max-width:560px;background:#ffffff;border:1px solid #dfe3ea;border-top:4px solid ${accent};border-radius:8px"><tr><td style="padding:24px">
<p style="${p};font-weight:700">${brand.name}</p>
<p style="${p}">${greetingOf(written)}</p>
${paragraphs.map((words) => html`<p style="${p};white-space:pre-line">${words}</p>\n`)}${
  button &&
  html`<p style="${p}"><a href="${publicUrl}${button.path}" style="display:inline-block;padding:10px 18px;border-radius:6px;background:${accent};color:#ffffff;font-weight:600;text-decoration:none">${button.words}</a></p>
<p style="${small}">Or open this address: <a href="${publicUrl}${button.path}" style="color:${accent};word-break:break-all">${publicUrl}${button.path}</a></p>\n`
}${closing && html`<p style="${small};white-space:pre-line">${closing}</p>\n`}</td></tr></table>
<p style="${small};padding-top:12px"><a href="${publicUrl}" style="color:#535b6b">${brand.name}</a></p>
</td></tr></table></body></html>
`.text
  }`
}
