// The power buttons of a server: on its page with words, in lists as icons.

import { type PowerAction, powerServer } from '../../../src/compute/servers/power.ts'
import type { Html } from '../../../src/kernel/web/html.ts'
import type { At } from '../../../src/kernel/web/page.ts'
import { act } from '../../components/act.ts'
import type { IconName } from '../../components/icon.ts'
import { disabledReason, type Server } from './words.ts'

export const away = (s: Server) => (s.nodeConnected ? undefined : 'Its node is not connected.')

/** Those that ask nothing first. */
export const quickPower = ['start', 'shutdown', 'restart'] as const satisfies readonly PowerAction[]
export const powerFaces: Record<(typeof quickPower)[number], { label: string; icon: IconName }> = {
  start: { label: 'Start', icon: 'play' },
  shutdown: { label: 'Shut down', icon: 'power' },
  restart: { label: 'Restart', icon: 'restart' },
}

/** `inRow`: an icon among many servers, so what it says names its own. */
export function powerButton(at: At, s: Server, action: (typeof quickPower)[number], { inRow = false } = {}): Html {
  const { label, icon } = powerFaces[action]
  const reason = away(s) ?? disabledReason(s, action)
  return act(at, powerServer, { id: s.id }, label, {
    icon,
    body: { action },
    disabledReason: reason && inRow ? `${s.name}: ${reason}` : reason,
    done: inRow ? `${s.name}: ${label.toLowerCase()} is under way` : `${label}: under way`,
    ...(inRow && { of: s.name, iconOnly: true, does: action }),
  })
}
