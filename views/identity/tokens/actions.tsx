import { USUAL_OVERLAP_HOURS } from '../../../src/identity/tokens/model.ts'
import { type listTokens, MOST_OVERLAP_HOURS, revokeToken, rotateToken } from '../../../src/identity/tokens/tokens.ts'
import type { Answers } from '../../../src/kernel/web/page.ts'
import { useAt } from '../../../src/kernel/web/page-context.ts'
import { Action } from '../../components/action.tsx'
import { Field } from '../../components/field.tsx'
import { Time } from '../../components/time.tsx'
import { shownOnce } from './create.tsx'

type TokenProps = { of: Answers<{ t: typeof listTokens }>['t']['data'][number] }

export function RotateToken({ of: k }: TokenProps) {
  const expired = k.expiresAt !== null && Date.parse(k.expiresAt) <= useAt().now
  return (
    <Action
      op={rotateToken}
      params={{ id: k.id }}
      label="Rotate"
      icon="refresh"
      of={k.name}
      inMenu
      title={`Rotate ${k.name}?`}
      disabledReason={expired && 'It has expired. Create a new token.'}
      secret={shownOnce}
      confirm={{
        keep: 'Keep as it is',
        consequences: [
          'It gets a new value, which is shown once. Name, scopes, addresses and expiry stay.',
          'The current value is accepted for the time you set here; 0 ends it at once.',
          k.previousUntil && 'A value from an earlier rotation stops working now.',
        ],
      }}
      fields={
        <Field
          scope={`rotate-${k.id}`}
          name="overlapHours"
          label="Accept the old value for"
          required
          as="number"
          unit="hours"
          value={USUAL_OVERLAP_HOURS}
          min={0}
          max={MOST_OVERLAP_HOURS}
          hint={`0 to ${MOST_OVERLAP_HOURS}`}
        />
      }
    />
  )
}

export const RevokeToken = ({ of: k }: TokenProps) => (
  <Action
    op={revokeToken}
    params={{ id: k.id }}
    label="Revoke"
    icon="trash"
    of={k.name}
    inMenu
    tone="bad"
    title={`Revoke ${k.name}?`}
    done={`${k.name} is revoked`}
    confirm={{
      keep: 'Keep token',
      consequences: [
        'Programs that use it are refused from now on, with 401 invalid_token.',
        k.usedAt ? (
          <>
            It was last used <Time iso={k.usedAt} /> from {k.usedFrom}.
          </>
        ) : (
          'It was never used.'
        ),
        k.previousUntil && 'Its previous value, still accepted since the rotation, stops working too.',
        'Jobs that it started continue.',
        'It cannot be restored.',
      ],
    }}
  />
)
