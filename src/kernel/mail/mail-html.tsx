// The HTML part of a mail. Styles stand on each element because mail programs drop style sheets; no images, because
// they do not load them.
import type { ComponentChildren } from 'preact'
import { rendered } from '../web/html.ts'
import { greetingOf, type MailInput, UNSUBSCRIBE } from './mail-content.ts'

/** The accent colour of the style sheet, in a form that mail programs understand. */
const ACCENT = '#2256bb'
const FONT = 'system-ui,-apple-system,Segoe UI,Arial,sans-serif'
const styles = {
  text: `margin:0 0 16px;font:16px/1.5 ${FONT};color:#1c212b`,
  small: `margin:0 0 16px;font:14px/1.5 ${FONT};color:#535b6b`,
  outer: 'background:#ffffff;border:1px solid #dfe3ea;border-radius:8px',
  button: 'display:inline-block;padding:10px 18px;border-radius:6px;color:#ffffff;font-weight:600;text-decoration:none',
}

/** The document as text. Words from people are escaped by the renderer. */
export const mailAsHtml = (input: MailInput): string => `<!doctype html>${rendered(<Mail {...input} />)}\n`

function Mail(input: MailInput) {
  const { mailContent, brand, publicUrl } = input
  const { subject, paragraphs, button, closing, unsubscribe } = mailContent
  const accent = brand.accent ?? ACCENT
  return (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width,initial-scale=1" />
        <title>{subject}</title>
      </head>
      <body style="margin:0;background:#f5f6f9">
        <Layout>
          <tr>
            <td align="center" style="padding:24px 12px">
              <Layout style={`max-width:560px;border-top:4px solid ${accent};${styles.outer}`}>
                <tr>
                  <td style="padding:24px">
                    <p style={`${styles.text};font-weight:700`}>{brand.name}</p>
                    <p style={styles.text}>{greetingOf(input)}</p>
                    {paragraphs.map((words) => (
                      <p style={`${styles.text};white-space:pre-line`}>{words}</p>
                    ))}
                    {button && <Button words={button.words} url={publicUrl + button.path} accent={accent} />}
                    {closing && <p style={`${styles.small};white-space:pre-line`}>{closing}</p>}
                  </td>
                </tr>
              </Layout>
              <p style={`${styles.small};padding-top:12px`}>
                <a href={publicUrl} style="color:#535b6b">
                  {brand.name}
                </a>
                {unsubscribe && (
                  <>
                    {' · '}
                    <a href={publicUrl + unsubscribe} style="color:#535b6b">
                      {UNSUBSCRIBE}
                    </a>
                  </>
                )}
              </p>
            </td>
          </tr>
        </Layout>
      </body>
    </html>
  )
}

/** A table of one column, which every mail program centres and limits in width. */
const Layout = ({ style, children }: { style?: string; children: ComponentChildren }) => (
  <table role="presentation" width="100%" cellPadding="0" cellSpacing="0" {...(style && { style })}>
    {children}
  </table>
)

/** The link as a button, and its address as text for programs that draw no button. */
const Button = ({ words, url, accent }: { words: string; url: string; accent: string }) => (
  <>
    <p style={styles.text}>
      <a href={url} style={`${styles.button};background:${accent}`}>
        {words}
      </a>
    </p>
    <p style={styles.small}>
      Or open this address:{' '}
      <a href={url} style={`color:${accent};word-break:break-all`}>
        {url}
      </a>
    </p>
  </>
)
