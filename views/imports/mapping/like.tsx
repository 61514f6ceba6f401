// The package that is made like one of the other panel, with what the operator changes.
import { changeMapping } from '../../../src/imports/mapping/mapping.ts'
import { CallForm } from '../../components/action.tsx'
import { Check, Field } from '../../components/field.tsx'
import { Icon } from '../../components/icon.tsx'
import { Link } from '../../components/link.tsx'
import { Section } from '../../components/section.tsx'
import { count, units } from '../../components/words.ts'
import type { Import } from '../imports/words.tsx'
import type { SourcePackage } from './words.ts'

const numbers = [
  ['vcpus', 'vCPU', undefined, false],
  ['memoryMb', 'Memory', units.memoryMb, false],
  ['diskGb', 'Disk', units.diskGb, false],
  ['trafficGb', 'Traffic a month', units.trafficGb, true],
  ['portMbps', 'Speed', 'Mbit/s', true],
] as const

export function LikePackage({ of, row }: { of: Import; row: SourcePackage }) {
  const name = row.name ?? row.sourceId
  const { like } = row
  const value = (field: string) => like[field] as string | number | null | undefined
  return (
    <Section id="like" title={`Make one like ${name}`} count="exact size of the source, change what you like">
      <CallForm
        op={changeMapping}
        params={{ id: of.id }}
        body={{ 'packages.0.sourceId': row.sourceId, 'packages.0.choice': 'like' }}
        class="stack"
        done={`${count(row.importable, 'server')} would get it`}
        leadsTo={`/admin/imports/${of.id}/packages`}
      >
        <div class="fields">
          <Field scope="like" name="packages.0.changes.name" label="Name" required value={value('name')} />
          {numbers.map(([field, label, unit, nullable]) => (
            <Field
              scope="like"
              name={`packages.0.changes.${field}`}
              label={label}
              as="number"
              value={value(field)}
              {...(unit && { unit })}
              {...(nullable ? { nullable } : { required: true })}
            />
          ))}
          <Field
            scope="like"
            name="packages.0.changes.billingProductId"
            label="Billing product id"
            nullable
            value={value('billingProductId')}
            hint="From the source"
          />
        </div>
        <Check
          scope="like"
          name="packages.0.changes.isOnSale"
          label="Offer it to new customers"
          hint="Off: only these servers use it until you say otherwise."
          checked={like['isOnSale'] === true}
        />
        <div class="bar">
          <button class="btn pri">
            <Icon name="check" />
            {`Make it, for ${count(row.importable, 'server')}`}
          </button>
          <Link class="btn bare" to="/admin/imports/{id}/packages" params={{ id: of.id }}>
            Not now
          </Link>
        </div>
        <p class="hint">It is made when the import starts, not before.</p>
      </CallForm>
    </Section>
  )
}
