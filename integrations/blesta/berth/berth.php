<?php
// Blesta module for Berth. A service is known to Berth by its client and hostname, because Blesta has no number for a
// service while it is added. See README.md.

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
        return $this->page('row', ['vars' => (object) $vars]);
    }

    public function manageEditRow($module_row, array &$vars)
    {
        return $this->page('row', ['vars' => (object) ($vars ?: (array) $module_row->meta)]);
    }

    public function addModuleRow(array &$vars)
    {
        $this->Input->setRules([
            'panel_name' => ['empty' => ['rule' => 'isEmpty', 'negate' => true, 'message' => Language::_('Berth.!error.panel_name', true)]],
            'address' => ['empty' => ['rule' => 'isEmpty', 'negate' => true, 'message' => Language::_('Berth.!error.address', true)]],
            'token' => ['empty' => ['rule' => 'isEmpty', 'negate' => true, 'message' => Language::_('Berth.!error.token', true)]],
        ]);
        if (!$this->Input->validates($vars)) {
            return;
        }
        $problem = $this->problemOf($vars);
        if ($problem !== null) {
            return $this->refuse($problem);
        }
        return [
            ['key' => 'panel_name', 'value' => $vars['panel_name'], 'encrypted' => 0],
            ['key' => 'address', 'value' => $vars['address'], 'encrypted' => 0],
            ['key' => 'token', 'value' => $vars['token'], 'encrypted' => 1],
        ];
    }

    public function editModuleRow($module_row, array &$vars)
    {
        return $this->addModuleRow($vars);
    }

    public function deleteModuleRow($module_row)
    {
    }

    private function problemOf(array $row): ?string
    {
        try {
            $missing = (new BerthClient($row['address'], trim($row['token'])))->connection()['missingScopes'];
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
    public function getAdminAddFields($package, $vars = null)
    {
        return $this->hostnameField($vars);
    }

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
                'format' => ['rule' => ['matches', "/^$label(\\.$label)*$/"], 'message' => Language::_('Berth.!error.hostname', true)],
            ],
        ]);
        return $this->Input->validates($vars);
    }

    public function addService($package, ?array $vars = null, $parent_package = null, $parent_service = null, $status = 'pending')
    {
        if (!$this->validateService($package, $vars)) {
            return;
        }
        $hostname = strtolower($vars['berth_hostname']);
        $fields = ['berth_hostname' => $hostname, 'berth_server' => '', 'berth_ipv4' => '', 'berth_password' => ''];
        // A service that waits for its payment is only noted.
        if (($vars['use_module'] ?? 'false') === 'true') {
            $made = $this->try(fn (BerthClient $client) => $this->order($client, $package, $vars, $hostname));
            if ($made === null) {
                return;
            }
            $fields = [
                'berth_server' => $made['serverId'],
                'berth_ipv4' => $made['ipv4'] ?? '',
                'berth_password' => $made['rootPassword'] ?? '',
            ] + $fields;
        }
        return $this->metaOf($fields);
    }

    private function order(BerthClient $client, $package, array $vars, string $hostname): array
    {
        Loader::loadModels($this, ['Clients']);
        $owner = $this->Clients->get($vars['client_id']);
        $order = [
            'ownerId' => $client->customer(
                "blesta:{$owner->id}",
                trim("{$owner->first_name} {$owner->last_name}"),
                $owner->email,
                (string) ($owner->company ?? ''),
            ),
            'packageId' => $package->meta->package,
            'nodeGroupId' => $package->meta->location,
            'billingServiceId' => "blesta:{$owner->id}:$hostname",
        ];
        $image = $package->meta->image ?? 'none';
        if ($image !== 'none' && $image !== '') {
            $order += ['imageId' => $image, 'hostname' => $hostname, 'access' => ['mode' => 'password']];
        }
        return $client->order($order, bin2hex(random_bytes(8)));
    }

    public function editService($package, $service, ?array $vars = null, $parent_package = null, $parent_service = null)
    {
        return null;
    }

    public function suspendService($package, $service, $parent_package = null, $parent_service = null)
    {
        $this->try(fn (BerthClient $client) => $client->suspend($this->serverOf($service), 'Overdue'));
        return null;
    }

    public function unsuspendService($package, $service, $parent_package = null, $parent_service = null)
    {
        $this->try(fn (BerthClient $client) => $client->unsuspend($this->serverOf($service)));
        return null;
    }

    public function cancelService($package, $service, $parent_package = null, $parent_service = null)
    {
        $this->try(fn (BerthClient $client) => $client->terminate($this->serverOf($service)));
        return null;
    }

    public function changeServicePackage($package_from, $package_to, $service, $parent_package = null, $parent_service = null)
    {
        $this->try(fn (BerthClient $client) => $client->changePackage($this->serverOf($service), $package_to->meta->package));
        return null;
    }

    public function renewService($package, $service, $parent_package = null, $parent_service = null)
    {
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
        $url = $this->try(fn (BerthClient $client) => $client->signInLink($this->serverOf($service)));
        return $this->page('panel', ['url' => $url]);
    }

    public function tabServer($package, $service, ?array $get = null, ?array $post = null, ?array $files = null)
    {
        $found = $this->try(function (BerthClient $client) use ($service) {
            $path = '/servers/' . $this->serverOf($service);
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

    private function refuse(string $words): null
    {
        $this->Input->setErrors(['api' => ['berth' => $words]]);
        return null;
    }

    private function serverOf($service): string
    {
        $id = (string) ($this->serviceFieldsToObject($service->fields)->berth_server ?? '');
        return $id !== '' ? $id : throw new BerthError('server_not_found', 'This service has no server in Berth. Activate it first.');
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
