// The real host of a node in a lab, whose images come from this machine.
import { openRealHost } from '../../../agent/host/real-host.ts'

/** As `openRealHost`, with this machine's own addresses as a source of images. */
export function openLabHost(...given: Parameters<typeof openRealHost>): ReturnType<typeof openRealHost> {
  process.env['PANEL_AGENT_LOCAL_SOURCES'] = '127.0.0.0/8'
  try {
    return openRealHost(...given)
  } finally {
    delete process.env['PANEL_AGENT_LOCAL_SOURCES']
  }
}
