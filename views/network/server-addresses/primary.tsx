// The dialogs that give a server another primary address, or swap those of two servers.
import type { Answers } from '../../../src/kernel/web/page.ts'
import { changePrimaryAddress } from '../../../src/network/server-addresses/exchange/change.ts'
import type { primaryAddressOptions } from '../../../src/network/server-addresses/exchange/options.ts'
import { swapPrimaryAddresses } from '../../../src/network/server-addresses/exchange/swap.ts'
import { Action } from '../../components/action.tsx'
import { Select } from '../../components/field.tsx'
import { away } from '../../compute/servers/power-buttons.tsx'
import { disabledReason, type Server } from '../../compute/servers/words.ts'

export type PrimaryOption = Answers<{ o: typeof primaryAddressOptions }>['o']['options'][number]
type Props = { server: Server; option: PrimaryOption }

export const ChangePrimary = ({ server: s, option: o }: Props) => (
  <Action
    op={changePrimaryAddress}
    params={{ id: s.id }}
    body={{ version: o.version }}
    part={`v${o.version}`}
    label="Change"
    of={o.address}
    icon="transfer"
    inMenu
    title={`Give ${s.hostname} another IPv${o.version} address?`}
    submit="Change address"
    disabledReason={away(s) ?? disabledReason(s, 'addresses')}
    done={`Another address takes the place of ${o.address}`}
    confirm={{
      keep: 'Keep it',
      consequences: [
        `${s.hostname} cannot be reached at ${o.address} any more. It gets the next free address of its node.`,
        ...o.effects,
        'Its owner is told by mail.',
      ],
    }}
  />
)

export const SwapPrimary = ({ server: s, option: o }: Props) => (
  <Action
    op={swapPrimaryAddresses}
    params={{ id: s.id }}
    body={{ version: o.version }}
    part={`v${o.version}`}
    label="Swap"
    of={o.address}
    icon="restart"
    inMenu
    title={`Swap ${o.address} of ${s.hostname}`}
    submit="Swap addresses"
    disabledReason={o.swapsWithNone ?? away(s) ?? disabledReason(s, 'addresses')}
    done="The addresses are being swapped"
    fields={
      <>
        <Select
          scope={`swap-${o.version}`}
          name="serverId"
          label="With"
          options={o.swapWith.map(({ id, hostname, address }) => ({ value: id, label: `${hostname}, ${address}` }))}
        />
        <p class="muted">
          Both systems get their address from their guest agents, and connections end. Names in reverse DNS stay with
          the addresses. The owner is told by mail.
        </p>
      </>
    }
  />
)
