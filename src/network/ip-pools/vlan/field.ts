import { Type as t } from 'typebox'
import { FIRST_VLAN, LAST_VLAN } from '../../../../agent/protocol/wire.ts'
import { described, nullable } from '../../../kernel/api/operation.ts'

export const vlanField = described(
  nullable(t.Integer({ minimum: FIRST_VLAN, maximum: LAST_VLAN })),
  'The VLAN of the uplinks of its nodes in which servers with its addresses are. Null: they are on the bridge of ' +
    'their node, without a tag.',
)
