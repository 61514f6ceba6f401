import type { ComponentChildren } from 'preact'
import type { AssetName } from '../../../public/assets.ts'
import { gpuImageIcons } from '../../../src/catalog/gpu-images/icons.ts'
import { changeGpuImage, createGpuImage, listGpuImages } from '../../../src/catalog/gpu-images/images.ts'
import { type Answers, page } from '../../../src/kernel/web/page.ts'
import { useAt } from '../../../src/kernel/web/page-context.ts'
import { Action, EditEntry, Menu } from '../../components/action.tsx'
import { Check, Field, Select, TextArea } from '../../components/field.tsx'
import { Head } from '../../components/head.tsx'
import { List } from '../../components/list.tsx'
import { Empty } from '../../components/section.tsx'
import { type Column, Table } from '../../components/table.tsx'
import { count, exactMb, units } from '../../components/words.ts'
import { ArchiveEntry, GoodsState } from '../goods.tsx'

type Image = Answers<{ i: typeof listGpuImages }>['i']['data'][number]

export const gpuImagesPage = page({
  path: '/admin/gpu-images',
  reads: { images: listGpuImages },
  title: 'GPU images',
  nav: 'gpu-images',
  files: ['forms.css'] satisfies AssetName[],
  view: ({ images }) => (
    <>
      <Head
        title="GPU images"
        actions={<AddImage />}
        sub={<span>Containers that GPU instances run, pinned by digest: a new version is a new image.</span>}
      />
      <List
        of={images}
        noun="image"
        sorts={columns}
        empty={
          <Empty title="No GPU images yet">
            An image is a container of a registry, named with its digest. Every offer needs one.
          </Empty>
        }
      >
        <Table label="GPU images" rows={images.data} columns={columns} idOf={(i) => i.id} sortable />
      </List>
    </>
  ),
})

const columns: readonly Column<Image>[] = [
  {
    title: 'Image',
    kind: 'name',
    width: 30,
    sort: 'name',
    usual: true,
    cell: (i) => (
      <>
        <b title={i.name}>{i.name}</b>
        <small class="mono" title={i.reference}>
          {i.reference}
        </small>
      </>
    ),
  },
  {
    title: 'State',
    kind: 'state',
    width: 14,
    sort: 'archived',
    cell: (i) => <GoodsState of={i} />,
  },
  {
    title: 'Reached by',
    kind: 'a',
    width: 22,
    cell: (i) => ['SSH', i.jupyter && 'Jupyter', ...i.ports].filter(Boolean).join(', '),
  },
  { title: 'Size at most', kind: 'b', num: true, width: 12, cell: (i) => exactMb(i.mostMb) },
  { title: 'Registry', kind: 'lo', width: 12, cell: (i) => i.registryUsername ?? 'No login' },
  { title: 'Instances', kind: 'mid', num: true, width: 10, cell: (i) => i.instances.toLocaleString('en') },
  { title: 'Actions', kind: 'more', cell: (i) => <ImageMenu of={i} /> },
]

const icons: Record<(typeof gpuImageIcons)[number], string> = {
  terminal: 'Terminal',
  book: 'Notebook',
  activity: 'Training',
  image: 'Picture',
  globe: 'Web application',
  gpu: 'Card',
  package: 'Package',
}

const AddImage = () => (
  <Action
    op={createGpuImage}
    label="Add image"
    icon="plus"
    tone="pri"
    wide
    done="{name} is added"
    fields={<ImageFields scope="gpu-image" />}
  />
)

/** Nothing for readers who may only look. */
const ImageMenu = ({ of: i }: { of: Image }) =>
  useAt().may(changeGpuImage) ? (
    <Menu label={`Actions for ${i.name}`} small>
      <EditEntry op={changeGpuImage} of={i} label="Edit" wide fields={<ImageFields scope={`edit-${i.id}`} of={i} />} />
      <ArchiveEntry
        op={changeGpuImage}
        of={i}
        consequences={[
          'No new instance runs it.',
          i.instances > 0 && `${count(i.instances, 'instance')} with it keep${i.instances === 1 ? 's' : ''} it.`,
        ]}
      />
    </Menu>
  ) : null

const ImageFields = ({ scope, of: i }: { scope: string; of?: Image }) => (
  <>
    <Fields title="Image">
      <Field scope={scope} name="name" label="Name" required value={i?.name} placeholder="PyTorch 2.9" />
      <Field
        scope={scope}
        name="description"
        label="Description"
        nullable
        value={i?.description}
        placeholder="PyTorch with Jupyter, for training and notebooks."
        hint="Those who order read it."
      />
      {!i && (
        <Field
          scope={scope}
          name="reference"
          label="Reference"
          required
          mono
          placeholder="registry.example.com/ml/pytorch@sha256:…"
          hint="Registry, name and digest. It cannot be changed: add another image for another version."
        />
      )}
      <Field
        scope={scope}
        name="mostMb"
        label="Size at most"
        as="number"
        unit={units.memoryMb}
        required
        value={i?.mostMb ?? 20_480}
        hint="Of its compressed layers. Nodes do not fetch a larger one."
      />
    </Fields>
    <Fields title="What it runs">
      <Check
        scope={scope}
        name="jupyter"
        label="It has Jupyter"
        checked={i?.jupyter ?? false}
        hint="Its instances start it on port 8888, each with a token of its own."
      />
      <Field
        scope={scope}
        name="ports"
        label="Other ports"
        as="numbers"
        value={i?.ports.join(', ')}
        placeholder="7860, 8080"
        hint="Of the container. SSH is always there."
      />

      <Field
        scope={scope}
        name="opensPort"
        label="Port that is the way in"
        as="number"
        nullable
        value={i?.opensPort}
        hint="Empty: that of Jupyter, where it has it."
      />
      <Select
        scope={scope}
        name="icon"
        label="Picture"
        nullable
        value={i?.icon ?? ''}
        options={[
          { value: '', label: 'As of every image' },
          ...gpuImageIcons.map((value) => ({ value, label: icons[value] })),
        ]}
      />

      <Field
        scope={scope}
        name="docsUrl"
        label="Instructions"
        type="url"
        nullable
        value={i?.docsUrl}
        placeholder="https://docs.example.com/pytorch"
        hint="A page that says how what it runs is used."
      />
      <TextArea
        scope={scope}
        name="environment"
        label="Environment"
        as="lines"
        mono
        value={i?.environment.join('\n')}
        hint="NAME=value, one a line. An instance may set them otherwise. Put no secret here."
      />
      <TextArea
        scope={scope}
        name="command"
        label="Command"
        as="lines-null"
        mono
        value={i?.command?.join('\n')}
        hint="One argument a line, in place of the command of the image. Empty: that of the image."
      />
    </Fields>
    <Registry scope={scope} of={i} />
  </>
)

const Registry = ({ scope, of: i }: { scope: string; of: Image | undefined }) => (
  <Fields title="Registry">
    <Field
      scope={scope}
      name="registryUsername"
      label="Login of the registry"
      nullable
      mono
      value={i?.registryUsername}
      hint="Empty where it asks for none."
    />
    <Field
      scope={scope}
      name="registryPassword"
      label="Password or token"
      type="password"
      autocomplete="new-password"
      hint={i?.registryUsername ? 'Empty: the one that is kept stays.' : undefined}
    />
  </Fields>
)

const Fields = ({ title, children }: { title: string; children: ComponentChildren }) => (
  <fieldset class="group" aria-label={title}>
    <h2>{title}</h2>
    <div class="fields">{children}</div>
  </fieldset>
)
