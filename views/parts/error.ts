import { html } from '../../src/kernel/web/html.ts'
import type { At } from '../../src/kernel/web/page.ts'
export const errorBody = (r: { status: number; message: string }, requestId: string, _at: At) => html`<h1>${r.message}</h1><p>${requestId}</p>`
