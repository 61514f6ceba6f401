// The power buttons of a server: on its page with words, in lists as entries of the row's menu.
import type { ComponentChildren } from 'preact'
import { powerServer } from '../../../src/compute/servers/power.ts'
import type { PowerAction } from '../../../src/compute/servers/power-job.ts'
import { Action, Menu } from '../../components/action.tsx'
import type { IconName } from '../../components/icon.tsx'
import { disabledReason, type Server } from './words.ts'

/** Why nothing can be changed while the node is away; customers do not know of nodes. */
export const away = (s: Pick<Server, 'nodeConnected'>) =>
  s.nodeConnected ? undefined : 'The panel cannot reach it now.'

/** Those that ask nothing first. */
export const quickPower = ['start', 'shutdown', 'restart'] as const satisfies readonly PowerAction[]
export type QuickPower = (typeof quickPower)[number]
export const powerFaces: Record<QuickPower, { label: string; icon: IconName }> = {
  start: { label: 'Start', icon: 'play' },
  shutdown: { label: 'Shut down', icon: 'power' },
  restart: { label: 'Restart', icon: 'restart' },
}

type PowerProps = { server: Server; action: QuickPower; inRow?: boolean; inMenu?: boolean }
/** Consequences for a running server, for the dialog. */
const asks: Partial<Record<QuickPower, (s: Server) => string[]>> = {
  shutdown: (s) => [`${s.hostname} shuts down, and its services are offline until it is started.`],
  restart: (s) => [`${s.hostname} shuts down and starts again. Its services are offline meanwhile.`],
}

/**
 * `inRow`: among many servers, behind the menu of its row, so what it says names its own. On the page of the server one
 * press would stop it from every tab: what stops it asks first.
 */
export function PowerButton({ server: s, action, inRow = false, inMenu = inRow }: PowerProps) {
  const { label, icon } = powerFaces[action]
  const reason = away(s) ?? disabledReason(s, action)
  return (
    <Action
      op={powerServer}
      params={{ id: s.id }}
      label={label}
      icon={icon}
      body={{ action }}
      disabledReason={reason && inRow ? `${s.name}: ${reason}` : reason}
      done={inRow ? `${s.name}: ${label.toLowerCase()} is under way` : `${label}: under way`}
      inMenu={inMenu}
      {...(inRow && { of: s.name })}
      {...(!inRow && asks[action] && { confirm: { keep: 'Keep it running', consequences: asks[action](s) } })}
    />
  )
}

/** The menu of its row in a list. */
export const PowerMenu = ({ server: s, children }: { server: Server; children?: ComponentChildren }) => (
  <Menu label={`Actions for ${s.name}`} small>
    {quickPower.map((action) => (
      <PowerButton server={s} action={action} inRow />
    ))}
    {children}
  </Menu>
)

/** Cuts the power; asks first, because what is not written yet is lost. */
export const ForceOff = ({ server: s }: { server: Server }) => (
  <Action
    op={powerServer}
    params={{ id: s.id }}
    label="Force off"
    icon="square"
    inMenu
    body={{ action: 'off' }}
    disabledReason={away(s) ?? disabledReason(s, 'off')}
    done="Force off: under way"
    tone="bad"
    confirm={{
      keep: 'Keep it running',
      consequences: [
        `${s.hostname} loses power at once, without shutting down.`,
        'Data that it has not written to its disk is lost.',
        'Shut down lets it stop cleanly and is safer.',
      ],
    }}
  />
)
