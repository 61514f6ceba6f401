// The actions of an instance: buttons of its page, and entries of the menu of its row.

import { deleteInstance, deleteOwnInstance } from '../../../src/compute/gpu-instances/life/delete.ts'
import { pageOfList } from '../../../src/compute/gpu-instances/model.ts'
import { powerInstance } from '../../../src/compute/gpu-instances/run/power.ts'
import type { PowerAction } from '../../../src/compute/gpu-instances/run/power-job.ts'
import { Action } from '../../components/action.tsx'
import type { Area } from '../../components/area.ts'
import type { IconName } from '../../components/icon.tsx'
import { exactGb } from '../../components/words.ts'
import { away, disabledReason, type Instance } from './words.ts'

const faces: Record<PowerAction, { label: string; icon: IconName }> = {
  start: { label: 'Start', icon: 'play' },
  stop: { label: 'Stop', icon: 'square' },
  restart: { label: 'Restart', icon: 'restart' },
}

/** Stop is not deletion: the cards stay held, and that is billed. */
export const HELD = 'Its cards, ports and address stay yours, so it is still billed.'

type PowerProps = { instance: Instance; action: PowerAction; inRow?: boolean; inMenu?: boolean }
/** `inRow`: among many instances, so what it says names its own. */
export function PowerButton({ instance, action, inRow = false, inMenu = inRow }: PowerProps) {
  const { label, icon } = faces[action]
  const reason = away(instance) ?? disabledReason(instance, action)
  return (
    <Action
      op={powerInstance}
      params={{ id: instance.id }}
      label={label}
      icon={icon}
      body={{ action }}
      disabledReason={reason && inRow ? `${instance.name}: ${reason}` : reason}
      done={inRow ? `${instance.name}: ${label.toLowerCase()} is under way` : `${label}: under way`}
      inMenu={inMenu}
      {...(inRow && { of: instance.name })}
      {...(action === 'stop' && {
        title: `Stop ${instance.name}?`,
        confirm: {
          keep: 'Keep it running',
          consequences: [
            'Its programs end, and what they have not written to /workspace or their other files is lost.',
            HELD,
            'Its files stay as they are. To end its billing, delete it.',
          ],
        },
      })}
    />
  )
}

/** Staff delete by another path than owners. */
export function DeleteButton({ instance, area, inMenu }: { instance: Instance; area: Area; inMenu?: boolean }) {
  return (
    <Action
      op={area === '/admin' ? deleteInstance : deleteOwnInstance}
      params={{ id: instance.id }}
      label="Delete"
      icon="trash"
      tone="bad"
      inMenu={inMenu ?? false}
      // A deletion ends the job that works on it.
      disabledReason={disabledReason({ ...instance, job: null }, 'delete')}
      title={`Delete ${instance.name}?`}
      submit="Delete instance"
      done={`${instance.name} is being deleted`}
      leadsTo={pageOfList(area)}
      confirm={{
        type: instance.name,
        consequences: [
          `Everything under /workspace, up to ${exactGb(instance.workspaceGb)}, is deleted with it. ` +
            'Nothing brings it back.',
          `Its ${instance.cards.length === 1 ? 'card goes' : 'cards go'} back and may be sold to somebody else at ` +
            'once.',
          instance.ownAddress && instance.address && `Its address ${instance.address} is released.`,
          'Its billing ends.',
        ],
      }}
    />
  )
}
