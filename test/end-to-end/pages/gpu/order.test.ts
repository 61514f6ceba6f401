// A customer and a reseller order a GPU instance in Chromium.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Browser } from 'playwright-core'
import { launch, open } from '../../../support/browser.ts'
import { addGpuImage, addGpuOffer } from '../../../support/nodes/gpus.ts'
import { type GpuWorld, gpuWorld } from '../../../support/nodes/instances.ts'
import { pagesFor } from '../../../support/pages/pages-for.ts'
import { mustLookRight, shownScreens, titleOf } from '../../../support/pages/pages-on-screens.ts'

let p: GpuWorld
let browser: Browser
let rex: GpuWorld['owner']
beforeAll(async () => {
  p = await gpuWorld({
    cards: 4,
    offer: { name: '1 × L4', selfService: true, price: '0.79', currency: 'EUR', pricePer: 'hour' },
  })
  const [notebook, plain] = p.images
  await p.admin('PATCH', `/admin/gpu-images/${notebook}`, {
    name: 'PyTorch 2.9',
    description: 'PyTorch with Jupyter, for training and notebooks.',
    icon: 'book',
    docsUrl: 'https://docs.example.com/pytorch',
  })
  await p.admin('PATCH', `/admin/gpu-images/${plain}`, { name: 'CUDA 13', icon: 'terminal', description: 'A shell.' })
  const web = await addGpuImage(p, { name: 'Inference server', ports: [8000] })
  await p.admin('PATCH', `/admin/gpu-images/${web}`, { opensPort: 8000, icon: 'globe' })
  await addGpuOffer(p, { name: '2 × L4', imageIds: [notebook, web], cards: 2, vcpus: 2, selfService: true })
  await addGpuOffer(p, { name: '8 × L4', imageIds: [notebook], cards: 8, vcpus: 8, selfService: true })
  await p.admin('PUT', `/customers/${p.customer.id}/gpu-limit`, { gpuLimit: 3 })
  rex = p.account('reseller', 'Rex')
  p.account('customer', 'Clara', rex.id)
  await p.admin('PATCH', `/resellers/${rex.id}`, { locationIds: [p.location] })
  browser = await launch()
})
afterAll(async () => {
  await browser?.close()
  p?.close()
})

for (const screen of shownScreens) {
  const pages = [
    ['the order of a customer', 'gpu-order', '/gpu/new', () => p.customer],
    ['the order of a reseller', 'gpu-order-reseller', '/reseller/gpu/new', () => rex],
    ['the order of staff', 'gpu-order-staff', '/admin/gpu-instances/new', () => p.owner],
    ['an order where nothing is offered', 'gpu-order-none', '/gpu/new', () => p.account('customer', 'Nora')],
    ['the empty list of who may order', 'gpu-list-empty', '/gpu', () => p.customer],
    ['the offers of staff', 'gpu-offers', '/admin/gpu-offers', () => p.owner],
  ] as const
  for (const [title, name, path, who] of pages)
    test(`${title} at ${titleOf(screen)}: nothing to complain about`, () =>
      mustLookRight({ p, browser, who: who() }, screen, { name, path }))
}

test('a customer chooses an offer and a template by the keyboard and orders', async () => {
  const pages = pagesFor(p, p.customer)
  const { page, context, complaints } = await open(browser, shownScreens[0], pages.url.origin)
  try {
    await page.goto('/gpu')
    await page.getByRole('link', { name: 'Create GPU instance' }).click()
    await page.waitForURL('**/gpu/new')
    await page.getByRole('radio', { name: '2 × L4' }).press('Space')
    await page.waitForURL(/offerId=/)
    await page.getByRole('radio', { name: 'Inference server' }).check()
    await page.waitForURL(/imageId=/)
    await page.getByRole('textbox', { name: 'Name optional', exact: true }).fill('Answers')
    await page.getByLabel('Environment variables').fill('HF_HOME=/workspace/hf\nMODE=train')
    await page.getByRole('button', { name: 'Create GPU instance' }).click()
    await page.waitForURL(/\/gpu\/gpu_/)
    await p.settle()
    const { data } = (await p.call(p.customer, 'GET', '/gpu-instances')).body
    expect(data).toMatchObject([
      { name: 'Answers', offer: { name: '2 × L4' }, image: { name: 'Inference server' }, sshKeys: [{ id: p.keyId }] },
    ])
    expect((await p.call(p.customer, 'GET', `/gpu-instances/${data[0].id}`)).body.environment).toEqual([
      'HF_HOME=/workspace/hf',
      'MODE=train',
    ])
    // Two of three are in use now: the smaller offer alone is within the limit.
    await page.goto('/gpu/new')
    expect(await page.getByRole('radio', { name: '2 × L4' }).isDisabled()).toBe(true)
    expect(await page.getByRole('radio', { name: '1 × L4' }).isChecked()).toBe(true)
    expect(complaints).toEqual([])
  } finally {
    await context.close()
    await pages.stop(true)
  }
})

test('staff order for a customer that they search for, also an offer that customers cannot order', async () => {
  const offerId = await addGpuOffer(p, { name: 'Reserved L4', imageIds: [p.images[0]!] })
  const otto = p.account('customer', 'Otto')
  const pages = pagesFor(p, p.owner)
  const { page, context, complaints } = await open(browser, shownScreens[0], pages.url.origin)
  try {
    await page.goto('/admin/gpu-instances/new')
    expect(await page.getByText('Choose a customer first.').isVisible()).toBe(true)
    await page.getByLabel('Find customer').fill('Otto')
    await page.waitForURL(/owner=Otto/)
    await page.getByRole('radio', { name: /^Otto/ }).check()
    await page.waitForURL(/ownerId=/)
    await page.getByRole('radio', { name: 'Reserved L4' }).check()
    await page.waitForURL(new RegExp(`offerId=${offerId}`))
    await page.getByRole('button', { name: 'Create GPU instance' }).click()
    await page.waitForURL(/\/admin\/gpu-instances\/gpu_/)
    await p.settle()
    const { data } = (await p.call(otto, 'GET', '/gpu-instances')).body
    expect(data).toMatchObject([{ offer: { name: 'Reserved L4' }, owner: { id: otto.id } }])
    expect(complaints).toEqual([])
  } finally {
    await context.close()
    await pages.stop(true)
  }
})
