<?php
// Paymenter server extension for Berth. See README.md.

namespace Paymenter\Extensions\Servers\Berth;

use App\Attributes\ExtensionMeta;
use App\Classes\Extension\Server;
use App\Events\User\Updated;
use App\Helpers\ExtensionHelper;
use App\Models\Server as ServerModel;
use App\Models\Service;
use App\Models\Setting;
use App\Models\User;
use BerthClient;
use BerthError;
use BerthService;
use Exception;
use Illuminate\Support\Facades\Event;

require_once __DIR__ . '/BerthClient.php';

#[ExtensionMeta(name: 'Berth', description: 'Servers of a Berth panel', version: '1.1.0', author: 'Berth')]
class Berth extends Server
{
    private const SERVER = 'berth_server';
    /** What the client's page of a service shows, by the properties that keep it. */
    private const SHOWN = ['berth_hostname' => 'Hostname', 'berth_address' => 'Address', 'berth_user' => 'User'];

    private ?BerthClient $client = null;

    /** A changed name or e-mail of a client is brought to Berth by the queue: nobody waits for it. */
    public function boot()
    {
        Event::listen(Updated::class, function (Updated $event) {
            if ($event->user->wasChanged(['first_name', 'last_name', 'email'])) {
                $id = $event->user->id;
                dispatch(static fn () => self::bringClient($id));
            }
        });
    }

    public static function bringClient($id): void
    {
        $user = User::find($id);
        foreach ($user ? ServerModel::where('extension', 'Berth')->get() : [] as $server) {
            $extension = ExtensionHelper::getExtension('server', 'Berth', $server->settings);
            $extension->words(fn () => $extension->berth()->knownCustomer($extension->ofUser($user, '')));
        }
    }

    public function getConfig($values = []): array
    {
        return [
            ['name' => 'host', 'type' => 'text', 'label' => 'Address of the panel', 'required' => true, 'validation' => 'url'],
            ['name' => 'token', 'type' => 'password', 'label' => 'API token', 'required' => true, 'encrypted' => true],
            [
                'name' => 'installation',
                'type' => 'text',
                'label' => 'Installation',
                'required' => false,
                'placeholder' => explode('@', $this->kept())[0],
                'description' => 'In every identifier that Berth gets from here; leave it empty. Made for: ' . $this->kept()
                    . '. After a move enter these 8 characters, in a copy any other 8.',
                'validation' => 'nullable|regex:/^[a-z0-9]{8}$/',
            ],
        ];
    }

    public function getProductConfig($values = []): array
    {
        return $this->words(function () {
            [$packages, $locations] = $this->berth()->offer();
            $images = array_column(iterator_to_array($this->berth()->all('/images?limit=200'), false), 'name', 'id');
            $select = fn (string $name, string $label, array $options, bool $required = true) => [
                'name' => $name, 'type' => 'select', 'label' => $label, 'required' => $required, 'options' => $options,
            ];
            return [
                $select('package', 'Package', array_column($packages, 'name', 'id')),
                $select('location', 'Location', array_column($locations, 'name', 'id')),
                $select('image', 'Image', ['none' => 'None: the client chooses it'] + $images, false),
            ];
        });
    }

    /** The client may name its server; left empty, it is called after the service. */
    public function getCheckoutConfig($product, $values = [], $settings = []): array
    {
        $isInstalled = !in_array($settings['image'] ?? 'none', ['', 'none'], true);
        return $isInstalled ? [[
            'name' => 'hostname', 'type' => 'text', 'label' => 'Hostname', 'required' => false, 'default' => '',
            'validation' => ['nullable', 'max:253', 'regex:/^[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?(\.[A-Za-z0-9-]+)*$/'],
        ]] : [];
    }

    public function testConfig(): bool|string
    {
        try {
            $missing = $this->berth()->connection()['missingScopes'] ?? [];
            return $missing === [] ? true : 'Berth: the token lacks ' . implode(', ', $missing) . '.';
        } catch (BerthError $error) {
            return $error->words();
        }
    }

    /** What is answered is at hand in the mail about the new server: hostname, address, user and root password. */
    public function createServer(Service $service, $settings, $properties)
    {
        return $this->words(function () use ($service, $settings, $properties) {
            $options = array_intersect_key($properties, array_flip(['package', 'location', 'image', 'hostname']));
            // A field that the client left empty is stored as an empty text.
            $chosen = array_filter($options, fn ($value) => trim((string) $value) !== '') + $settings;
            $order = ['packageId' => (string) ($chosen['package'] ?? ''), 'nodeGroupId' => (string) ($chosen['location'] ?? '')];
            $image = (string) ($chosen['image'] ?? '');
            $isInstalled = $image !== '' && $image !== 'none';
            if ($isInstalled) {
                $hostname = strtolower(trim((string) ($chosen['hostname'] ?? ''))) ?: "server{$service->id}";
                $order += ['imageId' => $image, 'hostname' => $hostname, 'access' => ['mode' => 'password']];
            }
            $made = $this->berth()->createOnce($this->ofService($service), $order);
            $server = $made['server'];
            $shown = [
                'berth_hostname' => $server['hostname'] ?? null,
                'berth_address' => $server['ipv4'] ?? $server['ipv6'] ?? null,
                'berth_user' => $isInstalled ? $made['user'] : null,
            ];
            $this->keep($service, [self::SERVER => $made['serverId']] + $shown);
            return [
                'hostname' => $shown['berth_hostname'],
                'ip' => $shown['berth_address'],
                'username' => $shown['berth_user'],
                'password' => $made['rootPassword'],
            ];
        });
    }

    public function suspendServer(Service $service, $settings, $properties)
    {
        return $this->done($service, fn (BerthService $it) => $this->berth()->suspend($this->berth()->serverId($it), 'Overdue'));
    }

    public function unsuspendServer(Service $service, $settings, $properties)
    {
        return $this->done($service, fn (BerthService $it) => $this->berth()->unsuspend($this->berth()->serverId($it)));
    }

    /** A service whose server is gone already counts as terminated. */
    public function terminateServer(Service $service, $settings, $properties)
    {
        return $this->done($service, function (BerthService $it) use ($service, $properties) {
            $this->berth()->terminateOnce($it, (string) ($properties[self::SERVER] ?? ''));
            $service->properties()->whereIn('key', [self::SERVER, ...array_keys(self::SHOWN)])->delete();
        });
    }

    public function upgradeServer(Service $service, $settings, $properties)
    {
        $package = trim((string) ($properties['package'] ?? '')) ?: (string) ($settings['package'] ?? '');
        return $this->done($service, fn (BerthService $it) =>
            $this->berth()->changePackage($this->berth()->serverId($it), $package));
    }

    /** What the client's page of the service shows: where the server is, and the way into the panel. */
    public function getActions(Service $service, $settings, $properties): array
    {
        $texts = [];
        foreach (self::SHOWN as $key => $label) {
            if (($properties[$key] ?? '') !== '') {
                $texts[] = ['type' => 'text', 'label' => $label, 'text' => $properties[$key]];
            }
        }
        return [...$texts, ['type' => 'button', 'label' => 'Open the panel', 'function' => 'getLoginUrl']];
    }

    public function getLoginUrl(Service $service, $settings, $properties): string
    {
        return $this->words(function () use ($service) {
            $server = $this->berth()->ownServer($this->ofService($service))
                ?? throw new BerthError('server_not_found', 'This service has no server in Berth. Create it first.');
            // The client may have installed it meanwhile, under another name.
            $user = ($server['image'] ?? null) === null ? null : ($server['user'] ?? null);
            $address = $server['ipv4'] ?? $server['ipv6'] ?? null;
            $shown = ['berth_hostname' => $server['hostname'] ?? null, 'berth_address' => $address, 'berth_user' => $user];
            $this->keep($service, $shown);
            return $this->berth()->signInLink($server['id']);
        });
    }

    public function berth(): BerthClient
    {
        return $this->client ??= new BerthClient((string) $this->config('host'), trim((string) $this->config('token')));
    }

    public function ofUser($user, string $service): BerthService
    {
        $given = trim((string) $this->config('installation'));
        $installation = $given === ''
            ? BerthService::installationOf($this->kept(), self::host())
            : BerthService::installationOf($given, '');
        return new BerthService(
            'paymenter',
            $installation,
            $service,
            (string) $user->id,
            (string) $user->name,
            (string) $user->email,
            '',
            "paymenter:$service",
            "paymenter:{$user->id}",
        );
    }

    private function ofService(Service $service): BerthService
    {
        return $this->ofUser($service->user, (string) $service->id);
    }

    /** This installation, made once. The columns are unique together, so that two jobs do not make two. */
    private function kept(): string
    {
        return (string) Setting::firstOrCreate(
            ['key' => 'installation', 'settingable_type' => 'berth', 'settingable_id' => 0],
            ['value' => BerthService::newInstallation(self::host()), 'type' => 'string'],
        )->value;
    }

    private static function host(): string
    {
        return (string) parse_url((string) config('app.url'), PHP_URL_HOST);
    }

    private function keep(Service $service, array $properties): void
    {
        $names = [self::SERVER => 'Server in Berth'] + self::SHOWN;
        foreach ($properties as $key => $value) {
            $service->properties()->updateOrCreate(['key' => $key], ['name' => $names[$key], 'value' => (string) $value]);
        }
    }

    private function done(Service $service, callable $work): bool
    {
        $this->words(function () use ($service, $work) {
            $it = $this->ofService($service);
            $work($it);
            $this->berth()->knownCustomer($it);
        });
        return true;
    }

    /** Runs the work; what Berth refuses is an exception in words, as Paymenter shows it. */
    public function words(callable $work): mixed
    {
        try {
            return $work();
        } catch (BerthError $error) {
            throw new Exception($error->words());
        }
    }
}
