import { priceOf } from '../../../src/catalog/goods.ts'
import { listGpuImages } from '../../../src/catalog/gpu-images/images.ts'
import { gpuOfferFields } from '../../../src/catalog/gpu-offers/fields.ts'
import { changeGpuOffer, createGpuOffer, listGpuOffers } from '../../../src/catalog/gpu-offers/offers.ts'
import { type Answers, allIfAllowed, page } from '../../../src/kernel/web/page.ts'
import { useAt } from '../../../src/kernel/web/page-context.ts'
import { Action, EditEntry, Menu } from '../../components/action.tsx'
import { Checks } from '../../components/choices.tsx'
import { Select } from '../../components/field.tsx'
import { ListedFields } from '../../components/forms/listed-fields.tsx'
import { Head } from '../../components/head.tsx'
import { Link } from '../../components/link.tsx'
import { List } from '../../components/list.tsx'
import { Empty } from '../../components/section.tsx'
import { type Column, Table } from '../../components/table.tsx'
import { count, exactGb, list, smallSize } from '../../components/words.ts'
import { ArchiveEntry, GoodsState, priceWords } from '../goods.tsx'

const reads = { offers: listGpuOffers, images: allIfAllowed(listGpuImages) }
type Data = Answers<typeof reads>
type Offer = Data['offers']['data'][number]
type Choices = { models: Data['offers']['models']; images: NonNullable<Data['images']>['data'] }

export const gpuOffersPage = page({
  path: '/admin/gpu-offers',
  reads,
  title: 'GPU offers',
  nav: 'gpu-offers',
  view: ({ offers, images }) => {
    const choices = { models: offers.models, images: images?.data ?? [] }
    return (
      <>
        <Head
          title="GPU offers"
          actions={<AddOffer {...choices} />}
          sub={<span>Sizes that GPU instances are ordered in. An instance keeps what it was ordered with.</span>}
        />
        <List
          of={offers}
          noun="offer"
          sorts={columns(choices)}
          every={10}
          empty={
            <Empty title="No GPU offers yet">
              An offer is a number of whole cards of one model, with processors, memory, disk and images.
            </Empty>
          }
        >
          <Table label="GPU offers" rows={offers.data} columns={columns(choices)} idOf={(o) => o.id} sortable />
        </List>
      </>
    )
  },
})

const columns = (choices: Choices): readonly Column<Offer>[] => [
  {
    title: 'Offer',
    kind: 'name',
    width: 18,
    sort: 'name',
    usual: true,
    cell: (o) => (
      <>
        <b title={o.name}>{o.name}</b>
        {o.billingProductId && <small class="mono">{o.billingProductId}</small>}
        {priceOf(o) && <small>{priceWords(priceOf(o)!)}</small>}
      </>
    ),
  },
  {
    title: 'State',
    kind: 'state',
    width: 12,
    sort: 'archived',
    cell: (o) => (
      <>
        <GoodsState of={o} />
        {o.selfService && !o.archived && <small>In the panel too</small>}
      </>
    ),
  },
  {
    title: 'Cards',
    kind: 'addr',
    width: 24,
    sort: 'cards',
    cell: (o) => (
      <>
        <span title={o.model}>{`${o.cards} × ${o.model}`}</span>
        <small>{`${smallSize(o)} · ${exactGb(o.workspaceGb)} disk`}</small>
      </>
    ),
  },
  {
    title: 'Free now',
    kind: 'a',
    width: 18,
    cell: (o) =>
      list(
        o.locations
          .filter(({ free }) => free > 0)
          .map(({ name, free }) => `${free}${free >= 1000 ? ' or more' : ''} in ${name}`),
      ) || 'None',
  },
  { title: 'Address', kind: 'b', width: 14, cell: (o) => (o.ownIpv4 ? 'Own IPv4' : count(o.ports, 'mapped port')) },
  {
    title: 'Images',
    kind: 'mid',
    width: 16,
    cell: (o) => (
      <span title={o.images.map(({ name }) => name).join(', ')}>
        {o.images[0]?.name}
        {o.images.length > 1 && ` and ${o.images.length - 1} more`}
      </span>
    ),
  },
  { title: 'Instances', kind: 'lo', num: true, width: 8, cell: (o) => o.instances.toLocaleString('en') },
  { title: 'Actions', kind: 'more', cell: (o) => <OfferMenu of={o} {...choices} /> },
]

const AddOffer = (choices: Choices) => (
  <Action
    op={createGpuOffer}
    label="Add offer"
    icon="plus"
    tone="pri"
    wide
    disabledReason={!choices.images.length && 'Add an image first: every offer needs one.'}
    done="{name} is added"
    fields={<OfferFields scope="gpu-offer" {...choices} />}
  />
)

/** Nothing for readers who may only look. */
const OfferMenu = ({ of: o, ...choices }: { of: Offer } & Choices) =>
  useAt().may(changeGpuOffer) ? (
    <Menu label={`Actions for ${o.name}`} small>
      <EditEntry
        op={changeGpuOffer}
        of={o}
        label="Edit"
        wide
        fields={<OfferFields scope={`edit-${o.id}`} of={o} {...choices} />}
      />
      <ArchiveEntry
        op={changeGpuOffer}
        of={o}
        consequences={[
          'It can no longer be ordered.',
          o.instances > 0 && `${count(o.instances, 'instance')} with it keep${o.instances === 1 ? 's' : ''} running.`,
        ]}
      />
    </Menu>
  ) : null

/** The models that nodes report, and the one that the offer has. */
const modelsFor = ({ models }: Choices, offer: Offer | undefined) => [
  ...new Set([...models.map(({ model }) => model), ...(offer ? [offer.model] : [])]),
]

const OfferFields = ({ scope, of: o, ...choices }: { scope: string; of?: Offer } & Choices) => {
  const models = modelsFor(choices, o)
  const chosen = o?.images.map(({ id }) => id) ?? []
  return (
    <ListedFields
      list={gpuOfferFields}
      scope={scope}
      of={o}
      instead={{
        model: models.length > 0 && (
          <Select
            scope={scope}
            name="model"
            label="Model"
            value={o?.model ?? models[0]}
            options={models.map((model) => ({ value: model, label: model }))}
          />
        ),
      }}
      before={{
        billingProductId: (
          <Checks
            scope={scope}
            name="imageIds"
            label="Images"
            values={chosen}
            options={inOrder(choices.images, chosen)
              .filter(({ id, archived }) => !archived || chosen.includes(id))
              .map(({ id, name, archived }) => ({ value: id, label: archived ? `${name} (archived)` : name }))}
            hint="The first runs where an order names none."
            empty={
              <p class="muted">
                None yet. <Link to="/admin/gpu-images">Add an image</Link> first.
              </p>
            }
          />
        ),
      }}
    />
  )
}

/** The chosen ones first, in their order. */
const inOrder = (images: Choices['images'], chosen: readonly string[]) => [
  ...chosen.flatMap((id) => images.find((image) => image.id === id) ?? []),
  ...images.filter(({ id }) => !chosen.includes(id)),
]
