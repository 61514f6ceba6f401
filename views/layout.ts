import { html, type Html } from '../src/kernel/web/html.ts'
import type { Frame } from '../src/kernel/web/serve-pages.ts'
export const layout = ({ title, body }: Frame, _asset: (name: string) => string): Html => html`<html lang="en"><title>${title}</title><body>${body}</body></html>`
