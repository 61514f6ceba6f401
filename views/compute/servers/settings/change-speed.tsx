// The entry “Speed” of a server's settings: limits of its own instead of its package's.
import { changeSpeed } from '../../../../src/compute/speed/change.ts'
import { Edit } from '../../../components/action.tsx'
import { Field } from '../../../components/field.tsx'
import { Setting } from '../../workloads/settings-entry.tsx'
import { disabledReason, type Server, speedWords } from '../words.ts'

const isOverridden = ({ override }: Server['speed']) => Object.values(override).some((limit) => limit !== null)

export function ChangeSpeed({ server: s }: { server: Server }) {
  const { speed } = s
  const scope = `speed-${s.id}`
  const usual = s.portMbps === null ? 'not limited' : `${s.portMbps.toLocaleString('en')} Mbit/s`
  const cpu = speed.cpuPercent === null ? '' : `, ${speed.cpuPercent} % of its vCPUs`
  const words = `${speedWords(speed)}${cpu}${isOverridden(speed) ? `. Its package: ${usual}` : ', as its package'}`
  return (
    <Setting op={changeSpeed} title="Speed" words={words}>
      <Edit
        op={changeSpeed}
        params={{ id: s.id }}
        label="Change speed"
        title={`Speed of ${s.name}`}
        done="The speed is being changed"
        disabledReason={disabledReason(s, 'speed')}
        fields={
          <>
            <div class="pair">
              <Field
                scope={scope}
                name="portInMbps"
                label="Port in"
                as="number"
                nullable
                unit="Mbit/s"
                value={speed.override.portInMbps}
              />
              <Field
                scope={scope}
                name="portOutMbps"
                label="Port out"
                as="number"
                nullable
                unit="Mbit/s"
                value={speed.override.portOutMbps}
              />
            </div>
            <Field
              scope={scope}
              name="cpuPercent"
              label="Processor"
              as="number"
              nullable
              unit="%"
              value={speed.override.cpuPercent}
              hint="Of all its vCPUs together. Empty fields are as its package says. In force at once."
            />
          </>
        }
      />
    </Setting>
  )
}
