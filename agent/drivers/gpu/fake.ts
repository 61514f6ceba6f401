import type { Card, CardCheck, CardSample } from '../../protocol/gpu.ts'
import type { Gpus } from './gpus.ts'

/** The cards of a fake host, as its settings name them. All are well. */
export class FakeGpus implements Gpus {
  onChange = () => {}

  constructor(private settings: readonly (Pick<Card, 'uuid' | 'model' | 'memoryMb'> & Partial<Card>)[] = []) {}

  async cards(): Promise<Card[]> {
    return this.settings.map((card, slot) => ({
      bus: `0000:${(slot + 1).toString(16).padStart(2, '0')}:00.0`,
      driver: '570.0',
      serial: String(slot + 1).padStart(10, '0'),
      nvlinks: 0,
      mig: 'none',
      problems: [],
      ...card,
    }))
  }

  async samples(): Promise<CardSample[]> {
    return this.settings.map(({ uuid, memoryMb }) => ({
      uuid,
      usePercent: 35,
      memoryUsedMb: Math.round(memoryMb / 3),
      temperatureC: 55,
      powerW: 210,
      correctedErrors: 0,
      uncorrectedErrors: 0,
    }))
  }

  async check(uuids: readonly string[]): Promise<CardCheck[]> {
    return uuids.map((uuid) => {
      const card = this.settings.find((one) => one.uuid === uuid)
      return card
        ? { uuid, sellable: true, problems: [], clearedMb: card.memoryMb }
        : { uuid, sellable: false, problems: ['The host does not have this card.'], clearedMb: 0 }
    })
  }

  troublesSince = () => []
  findings = async () => []
  stay = async () => {}
  close() {}
}
