// A button that asks the browser for a passkey: one call begins, the browser answers, another call takes the answer.
import type { Operation } from '../../../../src/kernel/api/operation.ts'
import { CallForm, idOf } from '../../../components/action.tsx'
import { Icon } from '../../../components/icon.tsx'

type PasskeyProps = { begin: Operation; finish: Operation; leadsTo?: string; label: string; primary?: boolean }

export function PasskeyButton({ begin, finish, leadsTo, label, primary }: PasskeyProps) {
  const finishing = `${idOf(finish, {})}-passkey`
  return (
    <>
      <CallForm op={begin} hands={{ to: 'askPasskey', at: `.${finishing}` }} class="stack">
        <button class={primary ? 'btn pri' : 'btn'}>
          <Icon name="fingerprint" />
          <span>{label}</span>
        </button>
      </CallForm>
      <CallForm op={finish} {...(leadsTo && { leadsTo })} class={`stack ${finishing}`}>
        <input type="hidden" name="passkey" data-as="json" />
      </CallForm>
    </>
  )
}
