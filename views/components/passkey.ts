// A button that asks the browser for a passkey: one call says what for, the browser answers, another call takes the answer.
import type { Operation } from '../../src/kernel/api/operation.ts'
import { type Html, html } from '../../src/kernel/web/html.ts'
import { callForm, idOf } from './act.ts'
import { icon } from './icon.ts'

type RequestContext = { begin: Operation; finish: Operation; leadsTo?: string; label: string; pri?: boolean }

export function withPasskey({ begin, finish, leadsTo, label, pri }: RequestContext): Html {
  const finishing = `${idOf(finish, {})}-passkey`
  return html`${callForm(begin, {}, { hands: { to: 'askPasskey', at: `.${finishing}` }, name: 'stack' }, html`<div class="bar"><button class="btn grow ${pri && 'pri'}">${icon('key')}<span>${label}</span></button></div>`)}
    ${callForm(finish, {}, { ...(leadsTo && { leadsTo }), name: `stack ${finishing}` }, html`<input type="hidden" name="passkey" data-as="json">`)}`
}
