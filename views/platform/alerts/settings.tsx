// The alerts of a server, among its settings.

import type { Answers } from '../../../src/kernel/web/page.ts'
import { addAlert, type listAlerts, removeAlert, updateAlert } from '../../../src/platform/alerts/alerts.ts'
import { alertKindNames, alertKinds, kindOf } from '../../../src/platform/alerts/kinds.ts'
import { ALERTS_PER_SERVER, LONGEST_MINUTES } from '../../../src/platform/alerts/model.ts'
import { Action, Edit } from '../../components/action.tsx'
import { Field } from '../../components/field.tsx'
import { For } from '../../components/time.tsx'
import type { Server } from '../../compute/servers/words.ts'
import { Setting } from '../../compute/workloads/settings-entry.tsx'

type Alerts = Answers<{ alerts: typeof listAlerts }>['alerts']
type Alert = Alerts['data'][number]

/** One entry for a new alert, and one for each that there is. */
export const AlertSettings = ({ server: s, alerts }: { server: Server; alerts: Alerts }) => (
  <>
    <Setting
      op={addAlert}
      title="Alerts"
      words={
        alerts.total
          ? 'You get a message when an alert fires and when it is over.'
          : 'Get a message when the server uses too much, or is off.'
      }
    >
      {alertKindNames.map((kind) => (
        <AddAlert server={s} kind={kind} isFull={alerts.total >= ALERTS_PER_SERVER} />
      ))}
    </Setting>
    {alerts.data.map((alert) => (
      <OneAlert of={alert} />
    ))}
  </>
)

const Minutes = ({ scope, value }: { scope: string; value: number }) => (
  <Field
    scope={scope}
    name="minutes"
    label="For"
    as="number"
    required
    value={value}
    min={1}
    max={LONGEST_MINUTES}
    unit="minutes"
    hint="Fires after this many minutes in a row, and ends after as many below 90 % of the threshold."
  />
)

type Kind = (typeof alertKindNames)[number]
const Threshold = ({ scope, kind, value }: { scope: string; kind: Kind; value: number | null }) => {
  const { unit, most, hint } = kindOf(kind)
  return unit ? (
    <Field
      scope={scope}
      name="threshold"
      label="Above"
      as="number"
      required
      value={value}
      min={1}
      max={most}
      unit={unit}
      hint={hint}
    />
  ) : (
    <p class="hint">{hint}</p>
  )
}

function AddAlert({ server: s, kind, isFull }: { server: Server; kind: Kind; isFull: boolean }) {
  const { words, usual } = alertKinds[kind]
  const scope = `alert-${kind}`
  return (
    <Action
      op={addAlert}
      params={{ id: s.id }}
      body={{ kind }}
      label={words}
      of="alert"
      icon="plus"
      small
      title={`Alert for ${s.name}: ${words}`}
      submit="Add alert"
      done="Alert added"
      disabledReason={isFull && `A server has at most ${ALERTS_PER_SERVER} alerts.`}
      fields={
        <>
          <Threshold scope={scope} kind={kind} value={usual.threshold} />
          {kind !== 'traffic' && <Minutes scope={scope} value={usual.minutes} />}
        </>
      }
    />
  )
}

const OneAlert = ({ of: a }: { of: Alert }) => (
  <Setting
    op={removeAlert}
    title={a.description}
    words={
      a.firedAt ? (
        <>
          Firing <For iso={a.firedAt} />.
        </>
      ) : (
        'Not firing.'
      )
    }
  >
    <Edit
      op={updateAlert}
      params={{ id: a.id }}
      of={a.description}
      title={a.description}
      fields={
        <>
          <Threshold scope={a.id} kind={a.kind} value={a.threshold} />
          {a.kind !== 'traffic' && <Minutes scope={a.id} value={a.minutes} />}
        </>
      }
    />
    <Action op={removeAlert} params={{ id: a.id }} label="Remove" of={a.description} done="Alert removed" />
  </Setting>
)
