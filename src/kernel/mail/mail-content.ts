// The content of a mail and its plain text; mail-html.tsx has the HTML. Words from people are text in both, and the
// only link leads to the panel.
import type { Brand } from '../web/brand.ts'

export type MailContent = {
  subject: string
  /** `Hello <name>,` when it is left out. */
  greeting?: string
  paragraphs: readonly string[]
  /**
   * The one link. `path` is a page of the panel; a mail links to nothing else
   * but the end of news. After `expiresAt` the mail is not sent
   * any more.
   */
  button?: { words: string; path: `/${string}`; expiresAt?: number }
  /** Small print below the button: how long the link is valid, what to do when the mail was not expected. */
  closing?: string
  /** Of news, which nobody has to get: the page that ends them for this reader. */
  unsubscribe?: `/${string}`
}

export const UNSUBSCRIBE = 'Unsubscribe from news'

export type MailInput = { mailContent: MailContent; name: string; brand: Brand; publicUrl: string }

export const greetingOf = ({ mailContent, name }: MailInput) => mailContent.greeting ?? `Hello ${name},`

export const mailAsText = (input: MailInput): string => {
  const { mailContent, brand, publicUrl } = input
  const { paragraphs, button, closing, unsubscribe } = mailContent
  return `${[
    greetingOf(input),
    ...paragraphs,
    ...(button ? [`${button.words}:\n${publicUrl}${button.path}`] : []),
    ...(closing ? [closing] : []),
    ...(unsubscribe ? [`${UNSUBSCRIBE}:\n${publicUrl}${unsubscribe}`] : []),
    `-- \n${brand.name}\n${publicUrl}`,
  ].join('\n\n')}\n`
}
