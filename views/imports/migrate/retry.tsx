// Trying a server again after a failure, and taking it back before it has moved.
import { cancelMove, retryMove } from '../../../src/imports/migrate/retry.ts'
import { Action } from '../../components/action.tsx'
import { Select } from '../../components/field.tsx'
import { Link } from '../../components/link.tsx'
import type { Import } from '../imports/words.tsx'
import type { Move } from './words.tsx'

type Props = {
  of: Import
  move: Move
  small?: boolean
  /** Those that can take it; without them it goes by the rule of its location. */
  nodes?: readonly { id: string; name: string }[] | undefined
}

/** Failures that a choice mends. */
const ofOwner: ReadonlySet<string> = new Set(['owner_conflict', 'email_taken', 'external_id_taken'])

/** After a failure, and after a roll back. */
export const mayRetry = ({ state }: Move): boolean => state === 'failed' || state === 'rolled_back'

export function Retry({ of, move, small = false, nodes = [] }: Props) {
  if (!mayRetry(move) || !of.actions.includes('retry')) return null
  return (
    <>
      {move.failure && ofOwner.has(move.failure.code) && (
        <Link class={small ? 'btn s' : 'btn'} to="/admin/imports/{id}/owners" params={{ id: of.id }}>
          Owners
        </Link>
      )}
      <Action
        op={retryMove}
        params={{ id: move.serverId }}
        label="Try again"
        of={move.hostname}
        icon="refresh"
        small={small}
        title={`Try ${move.hostname} again?`}
        submit="Try again"
        done={`${move.hostname} is tried again`}
        fields={
          <>
            <Select
              scope={`retry-${move.serverId}`}
              name="method"
              label="How"
              value={move.method}
              options={[
                { value: 'short_stop', label: 'Short stop: copied while it runs' },
                { value: 'plain', label: 'Plain: copied while it is off' },
              ]}
              hint="A new job, from the beginning. Nothing is changed at the source before it is shut down there."
            />
            {nodes.length > 0 && (
              <Select
                scope={`retry-${move.serverId}`}
                name="nodeId"
                label="Node"
                nullable
                options={[
                  { value: '', label: 'By the rule of its location' },
                  ...nodes.map(({ id, name }) => ({
                    value: id,
                    label: id === move.node?.id ? `${name}, as the last time` : name,
                  })),
                ]}
              />
            )}
          </>
        }
      />
    </>
  )
}

/** Before its point of no return. */
export const CancelMove = ({ of, move }: Props) =>
  of.actions.includes('cancel-server') && (move.state === 'waiting' || move.state === 'moving') ? (
    <Action
      op={cancelMove}
      params={{ id: move.serverId }}
      label="Cancel"
      of={move.hostname}
      icon="stop"
      title={`Take ${move.hostname} back?`}
      submit="Cancel its move"
      done="It is taken back"
      confirm={{
        keep: 'Go on moving',
        consequences: [
          move.whereItRuns === 'source'
            ? `It runs on at ${move.hypervisor.name}.`
            : `It is started again at ${move.hypervisor.name}.`,
          'What was copied here is deleted. Nothing was changed at the source.',
          'Once it has been started here, it can only be rolled back.',
        ],
      }}
    />
  ) : null
