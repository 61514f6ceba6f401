// The fields of a GPU offer, in the order of its form.

import { line } from '../../kernel/api/operation.ts'
import { required, textLine, usually, wholeNumber, yesOrNo } from '../../kernel/fields/field-list.ts'
import { units } from '../../kernel/words.ts'
import { billingProductId, nameOfGoods, priceFields } from '../goods.ts'

export const gpuOfferFields = {
  name: nameOfGoods('1x H100'),
  model: required(textLine(line(100)), {
    label: 'Model',
    placeholder: 'NVIDIA H100 80GB HBM3',
    hint: 'As the nodes report it.',
    description: 'Of its cards, as the nodes report it.',
    bodyDescription: 'As the nodes report it.',
  }),
  cards: required(wholeNumber(1, 64), { label: 'Cards', initial: 1, isBeside: true }),
  vcpus: required(wholeNumber(1, 512), { label: 'vCPUs', initial: 8 }),
  memoryMb: required(wholeNumber(64, 4_194_304), {
    label: 'Memory',
    unit: units.memoryMb,
    initial: 65_536,
    isBeside: true,
  }),
  workspaceGb: required(wholeNumber(1, 65_536), {
    label: 'Workspace',
    unit: units.diskGb,
    initial: 100,
    isBeside: true,
    description: 'The size of /workspace, which stays when an instance is made anew.',
  }),
  ownIpv4: usually(false, yesOrNo, {
    label: 'Own IPv4 address',
    hint: 'From the address pools of its node, with all ports. Without it, ports of the host lead to an instance.',
    description: 'An instance has an IPv4 address of its own, with all ports.',
  }),
  /** Without a meaning for an instance that has an address. */
  ports: usually(5, wholeNumber(1, 100), {
    label: 'Mapped ports',
    hint: 'That of SSH among them. Only without an address of its own.',
    description: 'Ports of the host that lead to an instance without an address, that of SSH among them.',
    bodyDescription: 'That of SSH among them; 5 if not given.',
  }),
  selfService: usually(false, yesOrNo, {
    label: 'Customers and resellers may order it in the panel',
    hint: 'Customers within the GPU limit of their account, resellers within their quota. Billing is told by an event.',
    description: 'Customers and resellers may order it themselves.',
  }),
  ...priceFields,
  billingProductId,
}
