import type { Operation } from '../../../../src/kernel/api/operation.ts'
import { Action } from '../../../components/action.tsx'
import { Field } from '../../../components/field.tsx'

type LostFactorProps = { op: Operation; id: string; name: string; label: string; inMenu?: boolean }

/** Removes the second factor of an account whose holder has lost it. */
export const LostFactor = ({ op, id, name, label, inMenu }: LostFactorProps) => (
  <Action
    op={op}
    params={{ id }}
    label={label}
    icon="shield"
    of={`of ${name}`}
    tone="bad"
    {...(inMenu ? { inMenu } : { small: true })}
    title={`Remove the second factor of ${name}?`}
    submit="Remove second factor"
    done="The second factor is removed"
    confirm={{
      keep: 'Keep it',
      consequences: [
        'The password alone is then enough to sign in. Verify the caller first: call back on a number you know.',
        'They are signed out everywhere and notified by mail.',
        'Authenticator app, passkeys and recovery codes are deleted; they can set up new ones.',
      ],
    }}
    fields={
      <Field
        scope={`lost-${id}`}
        name="reason"
        label="Reason"
        required
        hint="Kept in the audit log. Include how you verified the caller."
      />
    }
  />
)
