// Which id of the other panel becomes which of the numbers that a billing system knows.
import { changeMapping } from '../../../src/imports/mapping/mapping.ts'
import { type Answers, page } from '../../../src/kernel/web/page.ts'
import { CallForm } from '../../components/action.tsx'
import { Select } from '../../components/field.tsx'
import { Icon } from '../../components/icon.tsx'
import { Section } from '../../components/section.tsx'
import { importFiles, titleOf } from '../imports/words.tsx'
import { MappingFrame, mappingReads, useMayMap } from './frame.tsx'

type Data = Answers<typeof mappingReads>

export const importBillingPage = page({
  path: '/admin/imports/{id}/billing',
  reads: mappingReads,
  title: ({ import: of }) => `Billing numbers of ${titleOf(of)}`,
  nav: 'imports',
  files: importFiles,
  view: (data) => <BillingPage {...data} />,
})

const fields = [
  ['externalId', 'External id of customers', 'externalId: by it a billing system finds its customer.'],
  ['billingServiceId', 'Service id of servers', 'billingServiceId: by it a billing system finds its service.'],
  [
    'billingProductId',
    'Product id of packages',
    'billingProductId: of packages that are made like one of the source. Your own keep theirs.',
  ],
] as const
const idOptions = [
  { value: 'billing_id', label: 'The id that its billing module uses there' },
  { value: 'source_id', label: 'The id that the panel itself uses there' },
  { value: 'none', label: 'Leave it empty' },
]

function BillingPage({ import: of }: Data) {
  const mayMap = useMayMap(of)
  return (
    <MappingFrame of={of}>
      <Section
        id="billing"
        title="Billing numbers"
        first
        words={
          'Services that are billed today are found again by these numbers. An id that the panel does not have ' +
          'stays empty.'
        }
      >
        <CallForm op={changeMapping} params={{ id: of.id }} class="stack" done="Saved">
          {fields.map(([name, label, hint]) => (
            <Select
              scope="billing"
              name={`billing.${name}`}
              label={label}
              hint={hint}
              value={of.billing[name]}
              options={idOptions}
            />
          ))}
          {mayMap && (
            <div class="bar">
              <button class="btn pri">
                <Icon name="check" />
                Save
              </button>
            </div>
          )}
        </CallForm>
      </Section>
    </MappingFrame>
  )
}
