// Reports in the form of `nvidia-smi -q -x` of drivers before 580, made by hand after the fields that NVIDIA documents
// and that reports in public have. Those of real cards are in `recorded/`.

export type ReportedCard = {
  uuid: string
  bus?: string
  model?: string
  memoryMb?: number
  usedMb?: number
  mig?: 'Enabled' | 'Disabled' | 'N/A'
  persistence?: 'Enabled' | 'Disabled'
  uncorrected?: number
  pending?: 'Yes' | 'No'
  failure?: 'Yes' | 'No'
  /** Left out: the driver is too old to say. */
  recovery?: string
  width?: number
  processes?: { pid: number; name: string }[]
  /** More elements of the card. */
  more?: string
}

export const UUID = 'GPU-3b3b3b3b-0000-4000-8000-00000000003b'
export const OTHER_UUID = 'GPU-5e5e5e5e-0000-4000-8000-00000000005e'
export const H100 = 'NVIDIA H100 80GB HBM3'

export const report = (...cards: ReportedCard[]) => `<?xml version="1.0" ?>
<!DOCTYPE nvidia_smi_log SYSTEM "nvsmi_device_v12.dtd">
<nvidia_smi_log>
	<timestamp>Mon Nov 23 10:00:00 2026</timestamp>
	<driver_version>570.133.20</driver_version>
	<cuda_version>12.8</cuda_version>
	<attached_gpus>${cards.length}</attached_gpus>
${cards.map(reported).join('\n')}
</nvidia_smi_log>
`

const reported = ({
  uuid,
  bus = '00000000:3B:00.0',
  model = H100,
  memoryMb = 81_559,
  usedMb = 0,
  mig = 'Disabled',
  persistence = 'Enabled',
  uncorrected = 0,
  pending = 'No',
  failure = 'No',
  recovery,
  width = 16,
  processes = [],
  more = '',
}: ReportedCard) => `	<gpu id="${bus}">
		<product_name>${model}</product_name>
		<product_architecture>Hopper</product_architecture>
		<persistence_mode>${persistence}</persistence_mode>
		<mig_mode>
			<current_mig>${mig}</current_mig>
			<pending_mig>${mig}</pending_mig>
		</mig_mode>
		<mig_devices>
			None
		</mig_devices>
		<serial>1650000000001</serial>
		<uuid>${uuid}</uuid>
		<minor_number>3</minor_number>
		${recovery === undefined ? '' : `<gpu_recovery_action>${recovery}</gpu_recovery_action>`}
		<gpu_reset_status>
			<reset_required>No</reset_required>
			<drain_and_reset_recommended>N/A</drain_and_reset_recommended>
		</gpu_reset_status>
		<pci>
			<pci_bus>3B</pci_bus>
			<pci_bus_id>${bus}</pci_bus_id>
			<pci_gpu_link_info>
				<pcie_gen>
					<max_link_gen>5</max_link_gen>
					<current_link_gen>5</current_link_gen>
				</pcie_gen>
				<link_widths>
					<max_link_width>16x</max_link_width>
					<current_link_width>${width}x</current_link_width>
				</link_widths>
			</pci_gpu_link_info>
		</pci>
		<fan_speed>N/A</fan_speed>
		<fb_memory_usage>
			<total>${memoryMb} MiB</total>
			<reserved>551 MiB</reserved>
			<used>${usedMb} MiB</used>
			<free>${memoryMb - 551 - usedMb} MiB</free>
		</fb_memory_usage>
		<compute_mode>Default</compute_mode>
		<utilization>
			<gpu_util>37 %</gpu_util>
			<memory_util>4 %</memory_util>
		</utilization>
		<ecc_mode>
			<current_ecc>Enabled</current_ecc>
			<pending_ecc>Enabled</pending_ecc>
		</ecc_mode>
		<ecc_errors>
			<volatile>
				<sram_correctable>2</sram_correctable>
				<sram_uncorrectable_parity>0</sram_uncorrectable_parity>
				<sram_uncorrectable_secded>0</sram_uncorrectable_secded>
				<dram_correctable>3</dram_correctable>
				<dram_uncorrectable>${uncorrected}</dram_uncorrectable>
			</volatile>
			<aggregate>
				<sram_correctable>90</sram_correctable>
				<dram_uncorrectable>80</dram_uncorrectable>
				<sram_threshold_exceeded>No</sram_threshold_exceeded>
			</aggregate>
		</ecc_errors>
		<retired_pages>
			<pending_retirement>N/A</pending_retirement>
		</retired_pages>
		<remapped_rows>
			<remapped_row_corr>0</remapped_row_corr>
			<remapped_row_unc>0</remapped_row_unc>
			<remapped_row_pending>${pending}</remapped_row_pending>
			<remapped_row_failure>${failure}</remapped_row_failure>
		</remapped_rows>
		<temperature>
			<gpu_temp>58 C</gpu_temp>
			<gpu_temp_max_tlimit_threshold>-8 C</gpu_temp_max_tlimit_threshold>
		</temperature>
		<gpu_power_readings>
			<power_state>P0</power_state>
			<power_draw>312.49 W</power_draw>
			<current_power_limit>700.00 W</current_power_limit>
		</gpu_power_readings>
		${more}
		<processes>
			${processes
        .map(
          ({ pid, name }) =>
            `<process_info><pid>${pid}</pid><type>C</type><process_name>${name}</process_name></process_info>`,
        )
        .join('')}
		</processes>
	</gpu>`
