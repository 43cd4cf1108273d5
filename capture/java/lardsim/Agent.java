package lardsim;

import java.lang.instrument.*;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.security.ProtectionDomain;
import java.util.*;
import jdk.internal.misc.Unsafe;
import org.objectweb.asm.*;

/** Instruments classes as they are loaded, and knows the sites that this makes. */
public final class Agent implements ClassFileTransformer {
    private static final Unsafe U = Unsafe.getUnsafe();
    private static final Method declaredFields = declaredFields();

    /** A site of a field; the fields here are needed to resolve it when it is first executed. */
    private record Place(String owner, String name, String descriptor, ClassLoader loader, boolean global, int bytes,
            int kind) {}

    private static final List<Place> places = new ArrayList<>();
    private static final Map<String, Integer> classes = new HashMap<>();
    /** Maps "owner.field" to the field's offset, for classes of the JDK that are exact (Jdk). */
    private static final Map<String, Long> volatiles = new HashMap<>();
    private static StringBuilder names = new StringBuilder();
    private static int left; // classes that could not be instrumented
    static String window; // the method that opens it, as Class.method

    // ---- sites

    /** Makes a site for code that accesses an array, or nothing by itself. */
    static synchronized int site(String method, int line, int kind, int bytes) {
        return site(method, line, kind, bytes, "");
    }

    private static int site(String method, int line, int kind, int bytes, String more) {
        final int id = places.size() + 1;
        if (!Rt.site(id, 0, bytes, kind, 0, false))
            throw new IllegalStateException("there are more than " + places.size() + " accesses and allocations");
        places.add(null);
        names.append("S ").append(id).append(' ').append(method.replace('/', '.'));
        if (line > 0)
            names.append(':').append(line);
        names.append(more).append('\n');
        return id;
    }

    /** Makes a site for an allocation of the type. */
    static synchronized int makes(String method, int line, String descriptor) {
        final int id = site(method, line, 0, 0, ", new " + Type.getType(descriptor).getClassName());
        Rt.makes(id, descriptor);
        return id;
    }

    static synchronized int fieldSite(String method, int line, String owner, String name, String descriptor,
            boolean global, ClassLoader loader, boolean write) {
        final int bytes = bytes(descriptor), kind = write ? Rt.WRITE : Rt.READ;
        final int id = site(method, line, kind, bytes);
        places.set(id - 1, new Place(owner, name, descriptor, loader, global, bytes, kind));
        final Long known = volatiles.get(owner + '.' + name);
        if (known == null)
            Rt.site(id, -1, bytes, kind, 0, false);
        else
            Rt.site(id, known, 0, write ? Rt.VOLATILE_WRITE : Rt.VOLATILE_READ, 0, false);
        return id;
    }

    static synchronized int classNumber(String name, ClassLoader loader) {
        final String key = name + '@' + System.identityHashCode(loader);
        Integer n = classes.get(key);
        if (n == null)
            classes.put(key, n = classes.size() + 1);
        return n;
    }

    static int bytes(String descriptor) {
        switch (descriptor.charAt(0)) {
        case 'Z': case 'B': return 1;
        case 'C': case 'S': return 2;
        case 'J': case 'D': return 8;
        case 'L': case '[': return Rt.reference;
        default: return 4;
        }
    }

    /** getDeclaredField hides fields of some classes of the JDK; this is what is under it. */
    private static Method declaredFields() {
        try {
            final Method m = Class.class.getDeclaredMethod("getDeclaredFields0", boolean.class);
            m.setAccessible(true);
            return m;
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Kept with the class: the JVM makes new objects each time that it is asked. */
    private static final ClassValue<Field[]> fields = new ClassValue<Field[]>() {
        @Override
        protected Field[] computeValue(Class<?> c) {
            try {
                return (Field[]) declaredFields.invoke(c, false);
            } catch (ReflectiveOperationException e) {
                throw new IllegalStateException(e);
            }
        }
    };

    private static Field find(Class<?> c, Place p) {
        for (Class<?> k = c; k != null; k = k.getSuperclass()) {
            for (Field f : fields.get(k))
                if (f.getName().equals(p.name()) && Type.getDescriptor(f.getType()).equals(p.descriptor()))
                    return f;
            for (Class<?> i : k.getInterfaces()) {
                final Field f = find(i, p);
                if (f != null)
                    return f;
            }
        }
        return null;
    }

    static boolean isVolatile(String owner, String field) {
        return volatiles.containsKey(owner + '.' + field);
    }

    /** A class of the JDK that is exact, with those in it. */
    private static void learn(Class<?> c, List<Class<?>> to) {
        for (Class<?> k = c; k != null; k = k.getSuperclass())
            for (Field f : fields.get(k))
                if (Modifier.isVolatile(f.getModifiers()) && !Modifier.isStatic(f.getModifiers()))
                    volatiles.put(Type.getInternalName(c) + '.' + f.getName(), U.objectFieldOffset(f));
        to.add(c);
        for (Class<?> inner : c.getDeclaredClasses())
            learn(inner, to);
    }

    /** The offset of the field, whether it is volatile, and where a static lies. -2: it stays unknown. */
    private static void resolve(int id) {
        final Place p;
        long offset = -2;
        int kind, number = 0;
        boolean constant = false;

        synchronized (Agent.class) {
            p = places.get(id - 1);
        }
        kind = p.kind();
        try {
            final Field f = find(Class.forName(p.owner().replace('/', '.'), false, p.loader()), p);
            if (f != null) {
                if (Modifier.isVolatile(f.getModifiers()))
                    kind = kind == Rt.READ ? Rt.VOLATILE_READ : Rt.VOLATILE_WRITE;
                constant = Modifier.isFinal(f.getModifiers());
                if (p.global()) {
                    final Class<?> of = f.getDeclaringClass();
                    number = classNumber(of.getName().replace('.', '/'), of.getClassLoader());
                    Rt.base(id, U.staticFieldBase(f));
                }
                offset = p.global() ? U.staticFieldOffset(f) : U.objectFieldOffset(f);
            }
        } catch (ReflectiveOperationException | IllegalStateException | LinkageError e) {
            offset = -2;
        }
        Rt.site(id, offset, p.bytes(), kind, number, constant);
    }

    // ---- classes

    private static boolean ours(String name) {
        return name.startsWith("lardsim/") || name.startsWith("org/objectweb/asm/");
    }

    private static boolean ofTheJdk(String name) {
        return name.startsWith("java/") || name.startsWith("jdk/") || name.startsWith("sun/")
                || name.startsWith("com/sun/") || name.startsWith("javax/");
    }

    @Override
    public byte[] transform(Module module, ClassLoader loader, String name, Class<?> redefined,
            ProtectionDomain domain, byte[] code) {
        if (name == null || ours(name) || name.contains("$$Lambda") || (ofTheJdk(name) && !Jdk.knows(name)))
            return null;
        Rt.instruments(1);
        try {
            final ClassReader reader = new ClassReader(code);
            final ClassWriter writer = new ClassWriter(reader, ClassWriter.COMPUTE_MAXS);
            reader.accept(ofTheJdk(name) && !Jdk.isExact(name) ? Jdk.visitor(writer, name)
                    : new Code(writer, name, loader, ofTheJdk(name)), ClassReader.EXPAND_FRAMES);
            return writer.toByteArray();
        } catch (RuntimeException | LinkageError e) {
            synchronized (Agent.class) {
                left++;
                names.append("X ").append(name.replace('/', '.')).append(": ").append(e).append('\n');
            }
            return null;
        } finally {
            flush();
            Rt.instruments(-1);
        }
    }

    private static synchronized void flush() {
        if (names.length() > 0)
            Rt.names(names.toString());
        names = new StringBuilder();
    }

    public static void premain(String args, Instrumentation in) throws Exception {
        Rt.link();
        Rt.quiet(1);
        Rt.reference = U.ARRAY_OBJECT_INDEX_SCALE;
        Rt.sizes(Rt.reference, U.ARRAY_BYTE_BASE_OFFSET);
        window = Rt.method();
        Rt.resolver = new java.util.function.IntConsumer() {
            @Override
            public void accept(int site) {
                resolve(site);
            }
        };
        new ClassWriter(0); // loaded now
        final List<Class<?>> known = new ArrayList<>();
        for (String name : Jdk.names()) {
            final Class<?> c = Class.forName(name.replace('/', '.'), false, null);
            if (Jdk.isExact(name))
                learn(c, known);
            else
                known.add(c);
        }
        in.addTransformer(new Agent(), true);
        in.retransformClasses(known.toArray(new Class<?>[0])); // together: each call stops the JVM
        Rt.begin();
        Rt.quiet(-1);
    }
}
