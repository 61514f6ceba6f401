import { Type as t } from 'typebox'
import { HttpNamesOfHost, httpScheme } from '../gpu.ts'
import { act } from './declare.ts'

export const httpNamesCommands = {
  /**
   * From now on these HTTP ports have names under the domain, and no others. A name leads to its instance while that
   * runs.
   */
  'http-names.set': act({
    input: HttpNamesOfHost,
    output: t.Object({ scheme: httpScheme }),
    failures: ['container_engine_silent', 'http_proxy_refused', 'no_http_proxy'],
  }),
}
