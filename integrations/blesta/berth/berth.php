<?php
// Blesta module for Berth. A service has an id of its own, because Blesta has no number for a service while it is added.
// See README.md.

require_once __DIR__ . '/BerthClient.php';

class Berth extends Module
{
    public function __construct()
    {
        Language::loadLang('berth', null, __DIR__ . DIRECTORY_SEPARATOR . 'language' . DIRECTORY_SEPARATOR);
        Loader::loadComponents($this, ['Input']);
        $this->loadConfig(__DIR__ . DIRECTORY_SEPARATOR . 'config.json');
    }

    // ------------------------------------------------------------ panels of Berth, Blesta's module rows
    public function manageModule($module, array &$vars)
    {
        return $this->page('manage', ['module' => $module]);
    }

    public function manageAddRow(array &$vars)
    {
        return $this->page('row', ['vars' => (object) $vars, 'title' => 'Berth.row.add']);
    }

    /** The token is not shown again: an empty one stays as it is. */
    public function manageEditRow($module_row, array &$vars)
    {
        $shown = $vars ?: ['token' => ''] + (array) $module_row->meta;
        return $this->page('row', ['vars' => (object) $shown, 'title' => 'Berth.row.edit']);
    }

    public function addModuleRow(array &$vars)
    {
        $isMissing = fn (string $field) => [
            'empty' => ['rule' => 'isEmpty', 'negate' => true, 'message' => Language::_("Berth.!error.$field", true)],
        ];
        $this->Input->setRules([
            'panel_name' => $isMissing('panel_name'),
            'address' => $isMissing('address'),
            'token' => $isMissing('token'),
        ]);
        if (!$this->Input->validates($vars)) {
            return;
        }
        try {
            $installation = $this->rowInstallation(trim((string) ($vars['installation'] ?? '')));
        } catch (BerthError $error) {
            return $this->refuse($error->words());
        }
        $problem = $this->problemOf($vars);
        if ($problem !== null) {
            return $this->refuse($problem);
        }
        return [
            ['key' => 'panel_name', 'value' => $vars['panel_name'], 'encrypted' => 0],
            ['key' => 'address', 'value' => $vars['address'], 'encrypted' => 0],
            ['key' => 'token', 'value' => $vars['token'], 'encrypted' => 1],
            ['key' => 'installation', 'value' => $installation, 'encrypted' => 0],
        ];
    }

    public function editModuleRow($module_row, array &$vars)
    {
        $given = ['token' => trim((string) ($vars['token'] ?? '')) ?: $module_row->meta->token] + $vars;
        return $this->addModuleRow($given);
    }

    public function deleteModuleRow($module_row)
    {
    }

    /** The id of this installation, the same for every panel: what was entered, or that of another panel, or a new one. */
    private function rowInstallation(string $entered): string
    {
        $host = $this->host();
        $others = array_filter(array_map(fn ($row) => $row->meta->installation ?? '', $this->getModuleRows() ?: []));
        $belongsHere = fn (string $kept) => str_ends_with($kept, "@$host");
        $kept = $entered !== '' ? $entered : (current(array_filter($others, $belongsHere)) ?: BerthService::newInstallation($host));
        BerthService::installationOf($kept, $host);
        return $kept;
    }

    /** The host that this Blesta runs at: a copy of its database runs at another. */
    private function host(): string
    {
        Loader::loadModels($this, ['Companies']);
        $company = $this->Companies->get(Configure::get('Blesta.company_id'));
        return strtolower((string) ($company->hostname ?? ''));
    }

    private function problemOf(array $row): ?string
    {
        try {
            $missing = (new BerthClient($row['address'], trim($row['token'])))->connection()['missingScopes'] ?? [];
            return $missing === [] ? null : 'Berth: the token lacks ' . implode(', ', $missing) . '.';
        } catch (BerthError $error) {
            return $error->words();
        }
    }

    // ------------------------------------------------------------ packages
    public function getPackageFields($vars = null)
    {
        $fields = new ModuleFields();
        $row = isset($vars->module_row) && $vars->module_row > 0
            ? $this->getModuleRow($vars->module_row)
            : ($this->getModuleRows()[0] ?? null);
        [$packages, $locations, $images] = $row ? $this->choices($row) : [[], [], []];
        foreach ([['package', $packages], ['location', $locations], ['image', $images]] as [$name, $options]) {
            $label = $fields->label(Language::_("Berth.package.$name", true), "berth_$name");
            $value = $vars->meta[$name] ?? null;
            $label->attach($fields->fieldSelect("meta[$name]", $options, $value, ['id' => "berth_$name"]));
            $fields->setField($label);
        }
        return $fields;
    }

    private function choices($row): array
    {
        try {
            $client = $this->client($row);
            [$packages, $locations] = $client->offer();
            $images = array_column(iterator_to_array($client->all('/images?limit=200'), false), 'name', 'id');
            $none = ['none' => Language::_('Berth.package.no_image', true)];
            return [array_column($packages, 'name', 'id'), array_column($locations, 'name', 'id'), $none + $images];
        } catch (BerthError $error) {
            $this->refuse($error->words());
            return [[], [], []];
        }
    }

    public function addPackage(?array $vars = null)
    {
        $meta = [];
        foreach ($vars['meta'] ?? [] as $key => $value) {
            $meta[] = ['key' => $key, 'value' => $value, 'encrypted' => 0];
        }
        return $meta;
    }

    public function editPackage($package, ?array $vars = null)
    {
        return $this->addPackage($vars);
    }

    // ------------------------------------------------------------ services
    /** The id is made with the form, so that a form that is sent again after a lost answer orders nothing twice. */
    public function getAdminAddFields($package, $vars = null)
    {
        $fields = $this->hostnameField($vars);
        $fields->setField($fields->fieldHidden('berth_service', ($vars->berth_service ?? '') ?: $this->newServiceId()));
        return $fields;
    }

    /** A client sends no id: the service of an order gets one when it is noted. */
    public function getClientAddFields($package, $vars = null)
    {
        return $this->hostnameField($vars);
    }

    private function hostnameField($vars)
    {
        $fields = new ModuleFields();
        $label = $fields->label(Language::_('Berth.service.hostname', true), 'berth_hostname');
        $label->attach($fields->fieldText('berth_hostname', $vars->berth_hostname ?? '', ['id' => 'berth_hostname']));
        $fields->setField($label);
        return $fields;
    }

    public function validateService($package, ?array $vars = null)
    {
        $label = '[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?';
        $this->Input->setRules([
            'berth_hostname' => [
                'format' => ['rule' => ['matches', "/^(?=.{1,253}$)$label(\\.$label)*$/D"], 'message' => Language::_('Berth.!error.hostname', true)],
            ],
        ]);
        return $this->Input->validates($vars);
    }

    public function addService($package, ?array $vars = null, $parent_package = null, $parent_service = null, $status = 'pending')
    {
        if (!$this->validateService($package, $vars)) {
            return;
        }
        $isOrdered = ($vars['use_module'] ?? 'false') === 'true';
        $fields = [
            'berth_hostname' => strtolower($vars['berth_hostname']),
            // A service that waits for its payment gets an id here, whatever the client's browser sent.
            'berth_service' => $isOrdered ? $this->serviceId($vars) : $this->newServiceId(),
            'berth_server' => '',
            'berth_ipv4' => '',
            'berth_user' => '',
            'berth_password' => '',
        ];
        if ($isOrdered) {
            $made = $this->try(fn (BerthClient $client) => $this->order($client, $package, $vars, $fields));
            if ($made === null) {
                return;
            }
            $isKnown = ($vars['berth_server'] ?? '') === $made['serverId'];
            $fields = [
                'berth_server' => $made['serverId'],
                'berth_ipv4' => $made['server']['ipv4'] ?? '',
                'berth_user' => $made['user'],
                // An order that was placed more than a day ago brings no password; the one that is known is right.
                'berth_password' => $made['rootPassword'] ?? ($isKnown ? $vars['berth_password'] ?? '' : ''),
            ] + $fields;
        }
        return $this->metaOf($fields);
    }

    private function newServiceId(): string
    {
        return bin2hex(random_bytes(8));
    }

    /** The id that was noted or came with the form; else the number of the service, where Blesta says it. */
    private function serviceId(array $vars): string
    {
        $noted = (string) ($vars['berth_service'] ?? '');
        return preg_match('/^[a-z0-9]{1,32}$/D', $noted) ? $noted : ((string) ($vars['service_id'] ?? '') ?: $this->newServiceId());
    }

    private function order(BerthClient $client, $package, array $vars, array $fields): array
    {
        $order = ['packageId' => $package->meta->package, 'nodeGroupId' => $package->meta->location];
        $image = $package->meta->image ?? 'none';
        if ($image !== 'none' && $image !== '') {
            $order += ['imageId' => $image, 'hostname' => $fields['berth_hostname'], 'access' => ['mode' => 'password']];
        }
        return $client->createOnce($this->named($fields['berth_service'], (int) $vars['client_id']), $order);
    }

    /** A service and its client, by their names in Berth. */
    private function named(string $id, int $clientId): BerthService
    {
        $kept = (string) ($this->getModuleRow()->meta->installation ?? '');
        if ($kept === '') {
            throw new BerthError('no_installation', 'This panel has no id of the installation. Edit the panel in Blesta and save it once.');
        }
        $installation = BerthService::installationOf($kept, $this->host());
        Loader::loadModels($this, ['Clients']);
        $owner = $this->Clients->get($clientId);
        return new BerthService(
            'blesta',
            $installation,
            $id,
            (string) $clientId,
            trim("{$owner->first_name} {$owner->last_name}"),
            (string) $owner->email,
            (string) ($owner->company ?? ''),
        );
    }

    private function serviceOf($service): BerthService
    {
        $fields = $this->serviceFieldsToObject($service->fields);
        return $this->named((string) ($fields->berth_service ?? '') ?: (string) $service->id, (int) $service->client_id);
    }

    public function editService($package, $service, ?array $vars = null, $parent_package = null, $parent_service = null)
    {
        return null;
    }

    public function suspendService($package, $service, $parent_package = null, $parent_service = null)
    {
        $reason = trim((string) ($service->suspension_reason ?? ''));
        $this->try(fn (BerthClient $client) => $client->suspend($client->serverId($this->serviceOf($service)), $reason));
        return null;
    }

    public function unsuspendService($package, $service, $parent_package = null, $parent_service = null)
    {
        $this->try(fn (BerthClient $client) => $client->unsuspend($client->serverId($this->serviceOf($service))));
        return null;
    }

    public function cancelService($package, $service, $parent_package = null, $parent_service = null)
    {
        $known = (string) ($this->serviceFieldsToObject($service->fields)->berth_server ?? '');
        $this->try(fn (BerthClient $client) => $client->terminateOnce($this->serviceOf($service), $known));
        return null;
    }

    public function changeServicePackage($package_from, $package_to, $service, $parent_package = null, $parent_service = null)
    {
        $this->try(fn (BerthClient $client) =>
            $client->changePackage($client->serverId($this->serviceOf($service)), $package_to->meta->package));
        return null;
    }

    /** Blesta tells modules of no change of a client, so that a renewal brings the name and the e-mail to Berth. */
    public function renewService($package, $service, $parent_package = null, $parent_service = null)
    {
        $this->try(fn (BerthClient $client) => $client->knownCustomer($this->serviceOf($service)));
        return null;
    }

    // ------------------------------------------------------------ pages
    public function getClientTabs($package)
    {
        return ['tabPanel' => Language::_('Berth.tab.panel', true)];
    }

    public function getAdminTabs($package)
    {
        return ['tabServer' => Language::_('Berth.tab.server', true)];
    }

    /** A link into the panel that is good for 60 seconds, made when the page is opened. */
    public function tabPanel($package, $service, ?array $get = null, ?array $post = null, ?array $files = null)
    {
        $url = $this->try(fn (BerthClient $client) => $client->signInLink($client->ownServerId($this->serviceOf($service))));
        return $this->page('panel', ['url' => $url]);
    }

    public function tabServer($package, $service, ?array $get = null, ?array $post = null, ?array $files = null)
    {
        $found = $this->try(function (BerthClient $client) use ($service) {
            $path = '/servers/' . $client->ownServerId($this->serviceOf($service));
            return ['server' => $client->call('GET', $path), 'traffic' => $client->call('GET', "$path/bandwidth")];
        });
        return $this->page('server', $found ?? ['server' => null, 'traffic' => null]);
    }

    // ------------------------------------------------------------ helpers
    private function client($row): BerthClient
    {
        $log = fn (string $method, string $path, mixed $sent, mixed $answer) =>
            $this->log("{$row->meta->address} $method $path", json_encode([$sent, $answer]), 'output', !isset($answer['error']));
        return new BerthClient($row->meta->address, trim($row->meta->token), $log);
    }

    /** Blesta shows the errors of the input; null: it failed. */
    private function try(callable $work): mixed
    {
        $row = $this->getModuleRow();
        if (!$row) {
            return $this->refuse(Language::_('Berth.!error.row', true));
        }
        try {
            return $work($this->client($row));
        } catch (BerthError $error) {
            return $this->refuse($error->words());
        }
    }

    private function refuse(string $words): mixed
    {
        $this->Input->setErrors(['api' => ['berth' => $words]]);
        return null;
    }

    private function metaOf(array $fields): array
    {
        $meta = [];
        foreach ($fields as $key => $value) {
            $meta[] = ['key' => $key, 'value' => $value, 'encrypted' => $key === 'berth_password' ? 1 : 0];
        }
        return $meta;
    }

    private function page(string $name, array $values): string
    {
        $this->view = new View($name, 'default');
        $this->view->base_uri = $this->base_uri;
        $this->view->setDefaultView('components' . DIRECTORY_SEPARATOR . 'modules' . DIRECTORY_SEPARATOR . 'berth' . DIRECTORY_SEPARATOR);
        Loader::loadHelpers($this, ['Form', 'Html', 'Widget']);
        foreach ($values as $key => $value) {
            $this->view->set($key, $value);
        }
        return $this->view->fetch();
    }
}
