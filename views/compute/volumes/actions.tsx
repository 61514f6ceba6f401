// The actions of an extra volume, for its list and for the page of its server.

import { removeVolume } from '../../../src/compute/volumes/delete.ts'
import { growVolume } from '../../../src/compute/volumes/grow.ts'
import type { listVolumes } from '../../../src/compute/volumes/list.ts'
import { renameVolume } from '../../../src/compute/volumes/list.ts'
import { attachVolume, detachVolume } from '../../../src/compute/volumes/move.ts'
import type { Answers } from '../../../src/kernel/web/page.ts'
import { Action, Menu, RenameEntry } from '../../components/action.tsx'
import { Field, Select } from '../../components/field.tsx'
import { State } from '../../components/state.tsx'
import { exactGb } from '../../components/words.ts'

export type Volume = Answers<{ volumes: typeof listVolumes }>['volumes']['data'][number]

export const VolumeState = ({ of: v }: { of: Volume }) =>
  v.state === 'lost' ? (
    <State tone="bad" shape="fail">
      Lost
    </State>
  ) : v.state === 'creating' ? (
    <State tone="work" shape="work">
      Being made
    </State>
  ) : v.state === 'deleting' ? (
    <State tone="work" shape="work">
      Being deleted
    </State>
  ) : v.jobId ? (
    <State tone="work" shape="work">
      Changing
    </State>
  ) : v.state === 'attached' ? (
    <State tone="ok" shape="tick">
      Attached
    </State>
  ) : (
    <State tone="idle" shape="dot">
      Detached
    </State>
  )

const LOST = 'Its machine was lost, and the volume with it. Delete it.'

export function VolumeMenu({ of: v }: { of: Volume }) {
  const busy = v.jobId !== null && `A job is changing ${v.name}. Wait until it has ended.`
  const notNow = (v.state === 'lost' && LOST) || busy
  return (
    <Menu label={`Actions for ${v.name}`} small>
      <Action
        op={attachVolume}
        params={{ id: v.id }}
        label={v.server ? 'Move to another server' : 'Attach to a server'}
        icon="link"
        inMenu
        title={`Attach ${v.name} to a server`}
        submit="Attach volume"
        disabledReason={
          notNow || (v.attachableTo.length === 0 && `${v.owner.name} has no other server on the machine of ${v.name}.`)
        }
        done={`${v.name} is on its way`}
        fields={
          <Select
            scope={`to-${v.id}`}
            name="serverId"
            label="Server"
            value={v.attachableTo[0]?.id ?? ''}
            options={v.attachableTo.map(({ id, hostname }) => ({ value: id, label: hostname }))}
            hint={
              v.server
                ? `Unmount it in ${v.server.hostname} first. Servers on other machines cannot have it.`
                : 'Servers on other machines cannot have it.'
            }
          />
        }
      />
      {v.server && (
        <Action
          op={detachVolume}
          params={{ id: v.id }}
          label="Detach"
          icon="unplug"
          inMenu
          title={`Detach ${v.name}?`}
          disabledReason={notNow}
          done={`${v.name} is being detached`}
          confirm={{
            consequences: [
              `Unmount it in ${v.server.hostname} first: what is not written yet is lost.`,
              'It stays yours with all that is on it, and counts on.',
            ],
          }}
        />
      )}
      <Action
        op={growVolume}
        params={{ id: v.id }}
        label="Enlarge"
        icon="maximize"
        inMenu
        title={`Enlarge ${v.name}`}
        submit="Enlarge"
        disabledReason={notNow}
        done={`${v.name} is being enlarged`}
        fields={
          <Field
            scope={`grow-${v.id}`}
            name="sizeGb"
            label="New size"
            as="number"
            required
            unit="GiB"
            min={v.sizeGb + 1}
            value={v.sizeGb + 10}
            hint={`It has ${exactGb(v.sizeGb)}, and never becomes smaller. Enlarge its file system afterwards.`}
          />
        }
      />
      <RenameEntry op={renameVolume} of={v} />
      <Action
        op={removeVolume}
        params={{ id: v.id }}
        label="Delete"
        icon="trash"
        inMenu
        tone="bad"
        title={`Delete ${v.name}?`}
        submit="Delete volume"
        disabledReason={
          v.state !== 'lost' && (busy || (v.server !== null && `${v.server.hostname} has it. Detach it first.`))
        }
        done={`${v.name} is being deleted`}
        confirm={{
          type: v.name,
          keep: 'Keep it',
          consequences: [
            `All ${exactGb(v.sizeGb)} of it are lost at once, and nothing brings them back.`,
            'No snapshot and no backup has what is on it.',
          ],
        }}
      />
    </Menu>
  )
}
